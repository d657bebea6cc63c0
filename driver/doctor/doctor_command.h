/* `kiln doctor`: what a machine has and lacks. */
#ifndef KILN_DOCTOR_COMMAND_H
#define KILN_DOCTOR_COMMAND_H

/* argv[0] is the word "doctor". Returns the exit status: 0, 1 something is bad, 2 usage, 6 memory.
 */
int doctor_command(int argc, char **argv);

#endif
