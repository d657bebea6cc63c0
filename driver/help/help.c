/* The text of --help. */
#include "help.h"

#include "driver/base/flags.h"

void help_usage(FILE *to)
{
    fputs("usage: kiln WORD [FLAGS]\n"
          "\n"
          "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -t 1\n"
          "\n"
          "words: conv, convfp16, convbfp16, convint8, convfp8, convbfp8, model, tune, report, "
          "explain, emit, prepare, layout, cache, db, doctor, completion, env, help\n"
          "kiln help explains words and flags; kiln --list-devices lists the devices.\n",
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
    "  convfp8     the same with 8-bit floats, e4m3\n"
    "  convbfp8    the same with 8-bit floats, e5m2\n"
    "  model       print what the convolutions of an ONNX model cost; kiln model --help explains\n"
    "  tune        search for the fastest config of every convolution in files; kiln tune --help\n"
    "              explains\n"
    "  report      write a page with pictures of what tuning found; kiln report --help explains\n"
    "  explain     print what each solver says of a problem: predicted time and config, or why "
    "the\n"
    "              solver refuses; the rows of the problem, compile options and grid; takes the\n"
    "              flags of conv, after one of the words above for another type\n"
    "  emit        write one convolution as a C project that needs OpenCL alone; kiln emit --help\n"
    "              explains\n"
    "  prepare     compile what problems will run, before their first use, or into a bundle\n"
    "  layout      list layouts, show where elements are in memory, convert tensors between "
    "layouts\n"
    "  cache       show or clear the cache of compiled programs\n"
    "  db          list, check, merge, compare and prune files of tuning rows\n"
    "  doctor      tell what this machine has and lacks: drivers, devices, caches, a convolution "
    "of\n"
    "              each type; kiln doctor --help explains\n"
    "  completion  print a script with which bash, zsh or fish completes words, flags and values\n"
    "  env         print the environment variables that kiln reads, and the values in force\n"
    "  help        print this text, or with a word that word's; also --help\n"
    "  version     print the versions of kiln and its compiler; also --version\n"
    "  --list-devices  list the devices that --device and KILN_DEVICE can name\n"
    "\n"
    "A leading word MIOpenDriver is skipped, so that lines of its logs can be pasted unchanged.\n"
    "Flags are written -n 16, -n16, --batchsize 16 or --batchsize=16. Defaults are in [brackets].\n"
    "x is the input, w the filter, y the output; dy is the gradient of y.\n";

static const char examples[] =
    "\nExamples:\n"
    "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -t 1\n"
    "      run a 1x1 convolution forward, verify it, print its time\n"
    "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -t 1 -s 1\n"
    "      the same, tuned first; later runs use the config that was found\n"
    "  kiln conv -n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 -P 1 --dry-run\n"
    "      print compile options and launch sizes; this needs no device\n"
    "  kiln convfp16 --batch layers.txt --json -t 1 -V 0\n"
    "      time every layer of a file; a program reads the result\n"
    "  kiln explain -n 16 -c 192 -H 28 -W 28 -k 64 -F 2\n"
    "      print which solvers take the backward data of this problem\n";

static const char statuses[] =
    "\nExit status:\n"
    "  0    success\n"
    "  1    a result was wrong\n"
    "  2    the command line or a variable makes no sense\n"
    "  3    no solver supports the problem, or kiln does not support the flag\n"
    "  4    OpenCL failed\n"
    "  5    a file could not be read or written\n"
    "  6    out of memory\n"
    "  130  Ctrl-C or SIGTERM ended a search, which keeps the best config it had found\n"
    "  Where several apply: 1, else the largest.\n";

void help_print(FILE *to)
{
    fputs(words, to);
    flags_help(to);
    fputs(examples, to);
    fputs(statuses, to);
    env_help(to);
}
