/* `kiln emit`: writes one convolution as a C project that needs OpenCL alone. */
#ifndef KILN_EMIT_COMMAND_H
#define KILN_EMIT_COMMAND_H

/* Runs the word argv[0], "emit". Returns the exit status. */
int emit_command(int argc, char **argv);

#endif
