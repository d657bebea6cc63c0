/* The checks of the machine: its system, the settings in force, the permissions of GPUs' nodes. */
#include "kiln.h"

#include "finding.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

void check_system(const call *c)
{
    struct utsname u = {.sysname = "unknown system"};
    char name[128] = "";
    FILE *file = fopen("/etc/os-release", "re");
    char line[256];
    while (file && !*name && fgets(line, sizeof line, file))
        sscanf(line, "PRETTY_NAME=\"%127[^\"]", name);
    if (file)
        fclose(file);
    uname(&u);
    tell(c, FOUND_OK, NULL, "kiln %s, %s %s %s, %s, %ld processors", kiln_version(), u.sysname,
         u.release, u.machine, *name ? name : "unknown distribution",
         sysconf(_SC_NPROCESSORS_ONLN));
}

/* Lists the variables that kiln, PoCL and OpenCL's loader read. */
void check_settings(const call *c)
{
    static const char *const prefix[] = {"KILN_",   "POCL_",        "OCL_ICD_",
                                         "OPENCL_", "CUDA_VISIBLE", "ROCR_VISIBLE"};
    char text[800] = "";
    size_t used = 0;
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
            if (strncmp(*e, prefix[i], strlen(prefix[i])) == 0 && used + 2 < sizeof text)
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", *e);
    tell(c, FOUND_OK, NULL, "%s", *text ? text : "no variable is set");
}

/* Tells whether a node of a GPU can be used. */
static bool check_node(const call *c, const char *path)
{
    struct stat st;
    char remedy[300];
    if (access(path, R_OK | W_OK) == 0 || stat(path, &st) != 0)
        return true;
    const int error = errno;
    const struct group *g = getgrgid(st.st_gid);
    snprintf(remedy, sizeof remedy,
             "join its group: sudo usermod -aG %s $USER, then log in anew (a container needs "
             "--device and --group-add)",
             g ? g->gr_name : "GROUP");
    tell(c, FOUND_WARNING, remedy, "%s: %s (group %s, mode %o)", path, strerror(error),
         g ? g->gr_name : "without a name", (unsigned)st.st_mode & 0777);
    return false;
}

/* The drivers of AMD and Intel, and Mesa's, open these nodes, and show no device where they can't.
 */
void check_nodes(const call *c)
{
    glob_t nodes;
    bool good = true;
    const bool any = glob("/dev/dri/renderD*", 0, NULL, &nodes) == 0;
    const size_t count = any ? nodes.gl_pathc : 0;
    for (size_t i = 0; i < count; i++)
        good = check_node(c, nodes.gl_pathv[i]) && good;
    good = check_node(c, "/dev/kfd") && good;
    if (any)
        globfree(&nodes);
    if (good && count)
        tell(c, FOUND_OK, NULL, "%zu in /dev/dri, all may be used", count);
    else if (good)
        tell(c, FOUND_OK, NULL, "none in /dev/dri: no GPU of AMD or Intel is visible");
}
