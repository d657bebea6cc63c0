/* `kiln prepare`: has the library compile the problems of files and names. */
#include "prepare.h"

#include "driver/base/clock.h"

#include "conv.h"
#include "request_list.h"

#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: kiln prepare [FLAGS] FILE|PROBLEM...\n"
    "\n"
    "Compiles what kiln conv or a program that links libkiln would run for the problems, so that\n"
    "their first start finds compiled programs. A FILE is as for kiln conv --batch (- is standard\n"
    "input); a PROBLEM is a name: fwd-f32-n16-c192-k64-i28x28-f1x1.\n"
    "\n"
    "  -j, --jobs N       compile in N threads, on PoCL in N processes; default: one a CPU\n"
    "  -o, --output DIR   also write a bundle: programs and tuning rows, which KILN_BUNDLE=DIR or\n"
    "                     settings.bundle has a machine read that compiles and stores nothing\n"
    "  -F, --forw N       directions of files' sizes: 1 forward + 2 backward data + 4 backward\n"
    "                     weights; 0: all; default 1\n"
    "  -t, --type WORD    type of files' sizes: conv, convfp16 or another word of those; default "
    "conv\n"
    "      --input NAME=SIZES, --dim NAME=N, -n, --batchsize N\n"
    "                     sizes of a model's inputs, as for kiln model (there --batch N)\n"
    "      --device NAME  as for kiln conv\n"
    "      --while-read   print nothing, and end at once when nobody can read standard output any\n"
    "                     more: libkiln's own processes end so with the program that started them\n"
    "  -h, --help         print this text\n"
    "\n"
    "Examples:\n"
    "  kiln prepare --jobs 2 layers.txt\n"
    "  kiln prepare -o bundle layers.txt && KILN_BUNDLE=$PWD/bundle ./program\n";

typedef struct prepare {
    request defaults;
    int64_t jobs; /* 0: one a CPU */
    const char *output;
    bool single; /* one job, and no bundle */
    const session *s;
    kiln_problem *problems;
    size_t count, room;
    request_list_skipped skipped;
    int worst; /* exit status */
} prepare;

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "kiln prepare: %s%s; kiln prepare --help explains\n", what, word);
    return KILN_INVALID;
}

/* Compiles one problem, and tells so in a line. */
static kiln_status compile_one(const prepare *all, const kiln_problem *p)
{
    char text[KILN_KEY_TEXT];
    const double from = clock_seconds();
    kiln_problem_text(p, text, sizeof text);
    const kiln_status status = kiln_prepare(all->s->kiln, p, 1, 1);
    printf("%zu  %6.2f s  %s\n", all->count, clock_seconds() - from, text);
    fflush(stdout);
    if (status)
        fprintf(stderr, "kiln: %s: %s\n", text, kiln_last_error());
    return status;
}

/* Adds a problem, unless it is there already. A single job compiles it at once: what it reads from
 * may hand out one problem after the other. */
static kiln_status add(prepare *all, const kiln_problem *p)
{
    for (size_t i = 0; i < all->count; i++)
        if (memcmp(&all->problems[i], p, sizeof *p) == 0)
            return KILN_OK;
    if (all->count == all->room) {
        const size_t room = all->room ? 2 * all->room : 64;
        kiln_problem *more = realloc(all->problems, room * sizeof *more);
        if (!more)
            return KILN_NO_MEMORY;
        all->problems = more;
        all->room = room;
    }
    all->problems[all->count++] = *p;
    if (all->single)
        all->worst = worse_exit(all->worst, (int)compile_one(all, p));
    return KILN_OK;
}

/* Adds a line's problem in each of its directions. */
static bool collect(void *user, request_list_item *item)
{
    prepare *all = user;
    kiln_problem p;
    kiln_status status = item->status;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS && !status; d++)
        if (request_wants(&item->request, (kiln_direction)d) &&
            !(status = request_problem(&item->request, (kiln_direction)d, &p, item->why)))
            status = add(all, &p);
    if (status && status != KILN_NO_MEMORY)
        fprintf(stderr, "kiln: %.255s line %lld: %s\n", item->file, item->number, item->why);
    all->worst = worse_exit(all->worst, (int)status);
    return status != KILN_NO_MEMORY;
}

/* Whether a word that no file is called means a problem. */
static bool names_problem(const char *word)
{
    bool named = false;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
        const char *begin = kiln_direction_name((kiln_direction)d);
        named = named || (strncmp(word, begin, strlen(begin)) == 0 && word[strlen(begin)] == '-');
    }
    return named;
}

/* A word is a problem's name, unless a file is called so. */
static kiln_status read_word(prepare *all, const char *word)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    bool whole;
    if (strcmp(word, "-") != 0 && access(word, F_OK) != 0) {
        const kiln_status status = kiln_problem_parse(&p, word, why);
        if (!status)
            return add(all, &p);
        if (names_problem(word)) {
            fprintf(stderr, "kiln: %.160s: %s\n", word, why);
            return status;
        }
    }
    return request_list_read("", word, &all->defaults, collect, all, &all->skipped, &whole);
}

static kiln_status compile_all(const prepare *all)
{
    kiln *k = all->s->kiln;
    const int jobs = (int)all->jobs;
    kiln_status status = all->output ? kiln_bundle(k, all->problems, all->count, jobs, all->output)
                                     : kiln_prepare(k, all->problems, all->count, jobs);
    if (status)
        fprintf(stderr, "kiln: %s\n", kiln_last_error());
    return status;
}

static int tell_none(const prepare *all)
{
    char why[KILN_ERROR_TEXT];
    request_list_none(&all->defaults, why);
    fprintf(stderr, "kiln prepare: %s\n", why);
    return KILN_INVALID;
}

static int run(prepare *all, int count, char **words)
{
    static session s; /* never closed: a search for leaks must find it */
    char why[KILN_ERROR_TEXT];
    const double from = clock_seconds();
    /* Nothing is timed. PoCL's threads compile, too: those of two processes with one number would
     * share the core of that number, while another is idle. */
    setenv("POCL_AFFINITY", "0", 1);
    kiln_status status = session_open(&s, all->defaults.flags.device, why);
    if (status) {
        fprintf(stderr, "kiln: %s\n", why);
        return (int)status;
    }
    all->s = &s;
    for (int i = 0; i < count; i++)
        all->worst = worse_exit(all->worst, (int)read_word(all, words[i]));
    request_list_print_skipped(&all->skipped, stderr);
    if (all->count == 0)
        all->worst = all->worst ? all->worst : tell_none(all);
    else if (!all->single && (status = compile_all(all)))
        all->worst = worse_exit(all->worst, (int)status);
    else
        printf("%zu problem%s prepared for %s in %.1f s%s%s\n", all->count,
               all->count == 1 ? "" : "s", s.name, clock_seconds() - from,
               all->output ? ", bundle " : "", all->output ? all->output : "");
    session_end(&s);
    return all->worst;
}

/* Ends the process when the pipe has no reader any more. */
static void *end_with_reader(void *pipe)
{
    struct pollfd at = {.fd = *(int *)pipe};
    while (poll(&at, 1, -1) < 1 || !(at.revents & (POLLERR | POLLHUP | POLLNVAL)))
        ;
    _exit(1);
}

/* Keeps the pipe aside, as nobody reads what is printed. */
static bool watch_reader(void)
{
    static int pipe;
    pthread_t thread;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pipe = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const bool ok = pipe >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
                    pthread_create(&thread, NULL, end_with_reader, &pipe) == 0 &&
                    pthread_detach(thread) == 0;
    if (nowhere >= 0)
        close(nowhere);
    return ok || usage("standard output cannot be watched", "") == 0;
}

/* Reads the value of a flag; returns false, with a sentence on standard error, where it is none. */
static bool number(const char *flag, const char *text, int64_t most, int64_t *value)
{
    char *end;
    const long long n = strtoll(text, &end, 10);
    *value = n;
    if (*text >= '0' && *text <= '9' && !*end && n <= most)
        return true;
    fprintf(stderr, "kiln prepare: %s is '%.60s'; it must be a whole number from 0 to %lld\n", flag,
            text, (long long)most);
    return false;
}

/* Flags of conv about models, which its parser reads after this one's: getopt_long() keeps the
 * place of one parse only. */
typedef struct model_words {
    char *word[2 * FLAGS_TEXTS + 1];
    int count;
} model_words;

static bool keep_word(model_words *w, int letter)
{
    static char input[] = "--input", dim[] = "--dim", batch[] = "--batchsize";
    if (w->count + 2 > 2 * FLAGS_TEXTS)
        return usage("too many flags about models", "") == 0;
    w->word[w->count++] = letter == 'I' ? input : letter == 'D' ? dim : batch;
    w->word[w->count++] = optarg;
    return true;
}

static bool take_words(request *r, model_words *w)
{
    char conv[] = "conv", *all[2 * FLAGS_TEXTS + 2] = {conv};
    char why[KILN_ERROR_TEXT];
    memcpy(all + 1, w->word, (size_t)w->count * sizeof *all);
    const int here = optind;
    const bool fine = !flags_parse(&r->flags, w->count + 1, all, why);
    optind = here;
    return fine || usage(why, "") == 0;
}

/* Returns -1 to go on, else an exit status. */
static int read_flags(prepare *all, int argc, char **argv)
{
    static const struct option known[] = {{"jobs", required_argument, NULL, 'j'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"forw", required_argument, NULL, 'F'},
                                          {"type", required_argument, NULL, 't'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"while-read", no_argument, NULL, 'w'},
                                          {"input", required_argument, NULL, 'I'},
                                          {"dim", required_argument, NULL, 'D'},
                                          {"batchsize", required_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    request *r = &all->defaults;
    model_words w = {.count = 0};
    bool fine = true;
    int c;
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    while (fine && (c = getopt_long(argc, argv, "j:o:F:t:n:h", known, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (c == 'j')
            fine = number("--jobs (-j)", optarg, 64, &all->jobs);
        else if (c == 'o')
            all->output = optarg;
        else if (c == 'F')
            fine = number("--forw (-F)", optarg, 7, &r->flags.forw);
        else if (c == 't')
            fine = request_word(optarg, &r->type) || usage("unknown type ", optarg) == 0;
        else if (c == 'd')
            r->flags.device = optarg;
        else if (c == 'I' || c == 'D' || c == 'n')
            fine = keep_word(&w, c);
        else if (c == 'w')
            fine = watch_reader();
        else
            return usage("unknown flag or missing value: ", argv[optind - 1]);
        if (c == 't')
            r->word = optarg;
    }
    if (!fine || !take_words(r, &w))
        return KILN_INVALID;
    return optind < argc ? -1 : usage("a file or a problem is missing", "");
}

int prepare_command(int argc, char **argv)
{
    prepare all = {.defaults = {.word = "conv", .type = KILN_F32}};
    flags_init(&all.defaults.flags);
    all.defaults.flags.forw = 1;
    int exit = read_flags(&all, argc, argv);
    all.single = all.jobs == 1 && !all.output;
    if (exit < 0)
        exit = run(&all, argc - optind, argv + optind);
    free(all.problems);
    return exit;
}
