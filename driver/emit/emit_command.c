/* Parses the command line of `kiln emit` and has the plan written. */
#include "emit_command.h"

#include "driver/base/session.h"
#include "driver/conv/conv.h"

#include "emit_plan.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: kiln emit [WORD] [FLAGS] -o DIR\n"
    "\n"
    "Writes one forward convolution as a C project into the folder DIR: its kernels as kiln "
    "builds\n"
    "them, a host program that launches them in order, random data, a CMakeLists.txt and a "
    "README.\n"
    "The project needs OpenCL and nothing of kiln's. WORD is conv (unless given), convfp16 or "
    "another\n"
    "of those; FLAGS are those of conv that say the problem, the solver and the device.\n"
    "\n"
    "  -o, --output DIR   the folder, which is made where it is missing\n"
    "  --dry-run          choose without a device, for any\n"
    "  --help             print this text\n"
    "\n"
    "Example:\n"
    "  kiln emit --problem fwd-f32-n1-c64-k64-i56x56-f3x3-p1x1-bias-act:relu -o project\n"
    "  cmake -S project -B build && cmake --build build && build/conv_main\n";

static int fail(kiln_status status, const char *why)
{
    fprintf(stderr, "kiln emit: %s\n", why);
    return (int)status;
}

/* Has the operation built, which tells whether its kernels compile. */
static kiln_status write_op(const session *s, const request *r, const kiln_problem *p,
                            const char *folder, char *why)
{
    const kiln_choice choice = {.solver = request_solver(r),
                                .config = *r->flags.config ? r->flags.config : NULL,
                                .native_layout = r->flags.native_layout != 0};
    kiln_op *op;
    kiln_status status = kiln_conv_create(s->kiln, p, &choice, &op);
    if (status) {
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
        return status;
    }
    status = emit_project(op, folder, why);
    kiln_op_release(op);
    return status;
}

static int emit(const request *r, const char *folder)
{
    session s;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    kiln_status status = request_problem(r, KILN_FORWARD, &p, why);
    if (!status)
        status =
            r->flags.dry_run ? session_open_dry(&s, why) : session_open(&s, r->flags.device, why);
    if (status)
        return fail(status, why);
    status = write_op(&s, r, &p, folder, why);
    session_close(&s);
    return status ? fail(status, why) : 0;
}

/* Takes -o DIR out of the words. Returns the folder; NULL: there is none. */
static const char *take_output(int *argc, char **argv)
{
    const char *folder = NULL;
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if ((strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) && i + 1 < *argc)
            folder = argv[++i];
        else
            argv[kept++] = argv[i];
    *argc = kept;
    return folder;
}

int emit_command(int argc, char **argv)
{
    request r = {.word = "conv", .type = KILN_F32};
    char why[KILN_ERROR_TEXT];
    const char *folder = take_output(&argc, argv);
    if (argc > 1 && request_word(argv[1], &r.type)) {
        r.word = argv[1];
        argc--;
        argv++;
    }
    flags_init(&r.flags);
    kiln_status status = flags_parse(&r.flags, argc, argv, why);
    if (!status && r.flags.help) {
        fputs(help, stdout);
        return 0;
    }
    if (status)
        return fail(status, why);
    if (!folder || *r.flags.batch_file)
        return fail(KILN_INVALID, "name a folder by -o DIR, and one problem; kiln emit --help "
                                  "explains");
    if (!flags_given(&r.flags, "forw"))
        r.flags.forw = 1;
    if ((status = conv_check(&r, why)))
        return fail(status, why);
    if (!request_wants(&r, KILN_FORWARD) || request_wants(&r, KILN_BACKWARD_DATA) ||
        request_wants(&r, KILN_BACKWARD_WEIGHTS))
        return fail(KILN_UNSUPPORTED, "a project runs the forward direction; say -F 1");
    return emit(&r, folder);
}
