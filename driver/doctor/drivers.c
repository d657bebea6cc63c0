/* The checks of OpenCL's loader and of the libraries that it is told to load. */
#include "finding.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char vendors[] = "/etc/OpenCL/vendors";

void check_loader(const call *c)
{
    Dl_info info;
    char path[PATH_MAX];
    void *f = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
    if (f && dladdr(f, &info) && info.dli_fname)
        tell(c, FOUND_OK, NULL, "%s", realpath(info.dli_fname, path) ? path : info.dli_fname);
    else
        tell(c, FOUND_WARNING, NULL, "its file is unknown");
}

/* What brings the libraries that .icd files name. */
static const struct {
    const char *library, *remedy;
} remedies[] = {
    {"nvidia", "install the OpenCL library of the driver's own version (Debian: "
               "nvidia-opencl-icd, Ubuntu: libnvidia-compute-VERSION; a container: "
               "NVIDIA_DRIVER_CAPABILITIES=compute,utility), or remove the .icd file"},
    {"pocl", "apt install pocl-opencl-icd, or remove the .icd file"},
    {"igdrcl", "apt install intel-opencl-icd, or remove the .icd file"},
    {"amdocl", "install ROCm's OpenCL (rocm-opencl-runtime), or remove the .icd file"},
    {"Mesa", "apt install mesa-opencl-icd, or remove the .icd file"},
    {"usticl", "apt install mesa-opencl-icd, or remove the .icd file"},
};

static void check_library(const call *c, const char *icd, const char *library)
{
    const char *remedy = NULL;
    if (dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
        tell(c, FOUND_OK, NULL, "%s: %s", icd, library);
        return;
    }
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies && !remedy; i++)
        if (strstr(library, remedies[i].library))
            remedy = remedies[i].remedy;
    const char *why = dlerror();
    tell(c, FOUND_WARNING, remedy, "%s names %s, which does not load: %s", icd, library,
         why ? why : "no reason given");
}

/* Reads the library that an .icd file names, its first line. Returns false, with errno, where it
 * can't. */
static bool read_icd(const char *path, char library[PATH_MAX])
{
    FILE *file = fopen(path, "re");
    *library = '\0';
    if (!file)
        return false;
    if (!fgets(library, PATH_MAX, file))
        *library = '\0';
    fclose(file);
    library[strcspn(library, "\r\n")] = '\0';
    for (size_t n = strlen(library); n && strchr(" \t", library[n - 1]);)
        library[--n] = '\0';
    return true;
}

static void check_icd(const call *c, const char *path)
{
    char library[PATH_MAX];
    if (!read_icd(path, library))
        tell(c, FOUND_WARNING, "make the file readable", "%s: %s", path, strerror(errno));
    else if (!*library)
        tell(c, FOUND_WARNING, "write the path of the driver's library into it", "%s: is empty",
             path);
    else
        check_library(c, path, library);
}

static bool ends_in_icd(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".icd") == 0;
}

/* Visits the .icd files of a folder, sorted. Returns their number; -1: the folder is not read. */
static int visit_icds(const call *c, const char *folder,
                      void (*visit)(const call *c, const char *path))
{
    struct dirent **entry;
    char path[PATH_MAX];
    int icds = 0;
    const int n = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (ends_in_icd(entry[i]->d_name) &&
            snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name) < (int)sizeof path) {
            visit(c, path);
            icds++;
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return n < 0 ? -1 : icds;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* OCL_ICD_VENDORS names a folder, one .icd file, or a library. */
void check_icds(const call *c)
{
    const char *own = getenv("OCL_ICD_VENDORS");
    const char *folder = own && *own ? own : vendors;
    char path[PATH_MAX];
    const bool is_icd = ends_in_icd(folder);
    if (is_icd && snprintf(path, sizeof path, "%s%s%s", strchr(folder, '/') ? "" : vendors,
                           strchr(folder, '/') ? "" : "/", folder) < (int)sizeof path) {
        check_icd(c, path);
    } else if (folder != vendors && !is_folder(folder) && strstr(folder, ".so")) {
        check_library(c, "OCL_ICD_VENDORS", folder);
    } else {
        const int icds = visit_icds(c, folder, check_icd);
        if (icds < 0)
            tell(c, FOUND_WARNING, NULL, "%s: %s", folder, strerror(errno));
        else if (icds == 0)
            tell(c, FOUND_WARNING, NULL, "%s has no .icd file", folder);
    }
}

static bool names_nvidia;

static void look_for_nvidia(const call *c, const char *path)
{
    char library[PATH_MAX];
    (void)c;
    if (read_icd(path, library) && strstr(library, "nvidia"))
        names_nvidia = true;
}

/* CUDA works without OpenCL's library, and containers often lack it. */
void check_nvidia(const call *c)
{
    if (access("/proc/driver/nvidia/version", F_OK) != 0 && access("/dev/nvidiactl", F_OK) != 0) {
        tell(c, FOUND_OK, NULL, "no driver of NVIDIA's is loaded");
        return;
    }
    visit_icds(c, vendors, look_for_nvidia);
    if (names_nvidia)
        tell(c, FOUND_OK, NULL, "NVIDIA's driver is loaded and has an .icd file");
    else
        tell(c, FOUND_WARNING, NULL,
             "NVIDIA's driver is loaded, but no file in %s names its OpenCL", vendors);
}
