/* `kiln model`: what the convolutions of an ONNX model cost. */
#ifndef KILN_MODEL_COMMAND_H
#define KILN_MODEL_COMMAND_H

/* Runs the word argv[0], "model". Returns the exit status. */
int model_command(int argc, char **argv);

#endif
