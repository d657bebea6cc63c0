/* The text of --help. */
#include "help.h"

#include "flags.h"

void help_usage(FILE *to)
{
    fputs("usage: kiln WORD [FLAGS]\n"
          "\n"
          "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -t 1\n"
          "\n"
          "words: conv, convfp16, convbfp16, convint8, explain, layout, cache, db, env, help\n"
          "kiln help tells everything, kiln --list-devices what there is to run on.\n",
          to);
}

static const char words[] =
    "kiln runs convolutions with OpenCL kernels compiled for exactly the problem at hand.\n"
    "\n"
    "usage: kiln WORD [FLAGS]\n"
    "\n"
    "Words:\n"
    "  conv        run, verify and time convolutions of 32-bit floats\n"
    "  convfp16    the same with 16-bit floats\n"
    "  convbfp16   the same with bfloat16\n"
    "  convint8    the same with 8-bit integers\n"
    "  explain     what each solver says of a problem: predicted time and config, or why not;\n"
    "              takes the flags of conv, after one of the words above for another type\n"
    "  layout      list layouts, show where their elements live, convert tensors between them\n"
    "  cache       show or clear the cache of compiled programs\n"
    "  db          list, check, merge, compare and prune files of tuning rows\n"
    "  env         the environment variables that matter, with their values\n"
    "  help        this text; also --help\n"
    "  version     of kiln and its compiler; also --version\n"
    "  --list-devices  what --device and KILN_DEVICE can name\n"
    "\n"
    "A leading MIOpenDriver word is skipped: lines of its logs can be pasted as they are.\n"
    "Flags are written -n 16, -n16, --batchsize 16 or --batchsize=16. [..] is the default.\n";

static const char examples[] =
    "\nExamples:\n"
    "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -t 1\n"
    "      run a 1x1 convolution forward, verify it, print its time\n"
    "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -t 1 -s 1\n"
    "      the same, tuned first; later runs use what was found\n"
    "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -P 1 --dry-run\n"
    "      print compile options and launch sizes; needs no device\n"
    "  kiln convfp16 --batch layers.txt --json -t 1 -V 0\n"
    "      time every layer of a file, for a program to read\n"
    "  kiln explain -n 16 -c 192 -H 28 -W 28 -k 64 -F 2\n"
    "      which solvers take its backward data\n";

static const char statuses[] =
    "\nExit status:\n"
    "  0 all well   1 a result was wrong   2 the command makes no sense\n"
    "  3 unsupported   4 OpenCL failed   5 a file could not be read or written\n"
    "  6 out of memory   130 Ctrl-C (a search keeps the best config it had, after SIGTERM too)\n"
    "  Of several, a wrong result comes first, then the largest number.\n";

void help_print(FILE *to)
{
    fputs(words, to);
    flags_help(to);
    fputs(examples, to);
    fputs(statuses, to);
    env_help(to);
}
