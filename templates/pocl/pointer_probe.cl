/* pointer_probe.cl: doubles a number, to see whether a kernel finds it at an address of the host's.
 *
 * Grid: (1, 1, 1).
 */
kernel void pointer_probe(global int *number)
{
    *number *= 2;
}
