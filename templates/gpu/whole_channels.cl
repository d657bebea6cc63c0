/* whole_channels.cl: the epilogue and stores of WHOLE neighbouring channels of a pixel, whose place
 * in their tensor is a multiple of WHOLE.
 *
 *   put_whole(dst, i, acc, channel EPILOGUE_PASS)    stores the results for sums of channels from
 *                                                    `channel` on at element i
 *
 * Assumes   WHOLE is defined, 4, 8 or 16 (1: there is no put_whole()); the defines of epilogue.cl.
 */
#include "epilogue.cl"

#if WHOLE > 1

#define KILN_WHOLE_VAL KILN_CAT(VAL_T, WHOLE)

#if DST_TYPE != TYPE_I32
KILN_DEFINE_ACTIVATE(kiln_activate_whole, KILN_WHOLE_VAL)
#endif

INLINE void put_whole(global DST_T *dst, const INDEX_T i, const KILN_CAT(ACC_T, WHOLE) acc,
                      const int channel EPILOGUE_PARAMS)
{
    KILN_WHOLE_VAL v = KILN_CAT(convert_, KILN_WHOLE_VAL)(acc);
#if DST_TYPE != TYPE_I32
    KILN_SCALE_AND_ADD(v, DST_LOAD_WHOLE(WHOLE, residual, i),
                       WHOLE_AT(float, WHOLE, bias + channel));
    v = kiln_activate_whole(v);
#endif
    DST_STORE_WHOLE(WHOLE, dst, i, v);
}
#endif
