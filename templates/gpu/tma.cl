/* tma.cl: copies into local memory that one item starts for a whole group, and barriers there that
 * count the bytes that have arrived: NVIDIA's compute capability 9.0, by inline PTX.
 *
 *   ARRIVAL_INIT(at, count)     makes the 8 bytes at local address `at` a barrier: a phase of it
 *                               ends when `count` items have arrived, and all bytes that they
 *                               expect
 *   ARRIVAL_FENCE_INIT          after all of them, before the group's barrier
 *   ARRIVAL_EXPECT(at, bytes)   arrives, and expects so many bytes more
 *   ARRIVAL_ARRIVE(at)          arrives
 *   arrival_wait(at, parity)    until the phase of that parity, 0 or 1, has ended. Phases count
 *                               from 0; of a new barrier the one before, of parity 1, counts as
 *                               ended
 *
 *   COPY_BYTES(to, from, bytes, arrival)    starts to copy bytes, a multiple of 16 of them, from
 *                               and to multiples of 16, to local address `to`; they arrive at a
 *                               barrier
 *   COPY_BOX(to, map, c, w, h, n, arrival)  the same of a box of a tensor, from those coordinates
 *                               on. What lies outside of the tensor becomes 0, and counts as
 *                               arrived
 *   COPY_BOX_OF_BLOCKS(to, map, w, h, n, block, arrival)    the same of five axes, from channel 0
 *                               of blocks on
 *   COPY_FENCE_REUSE            where local memory was read and written, before a copy to there
 *
 *   REGISTERS_LESS(n), REGISTERS_MORE(n)    by all items of four warps: gives registers up until
 *                               each item has n of them, or waits until it can have n: multiples of
 *                               8, from 24 to 256
 *
 * The tensor map of 128 bytes says what the tensor and a box are. One item makes it in local
 * memory, all items of a warp put it into global memory, and the item that uses it waits for that:
 *
 *   map_clear(map, lane)        by all items of a warp: 128 zeros at a local pointer, a multiple of
 *                               128
 *   MAP_TENSOR(at, tensor, axes, type, row)    MAP_AXES_4 or MAP_AXES_5; MAP_OF_1, MAP_OF_2 or
 *                               MAP_OF_4, by bytes of an element; MAP_ROW_16, _32, _64 or _128: the
 *                               innermost axis has so many bytes of a box, which come to lie as
 *                               wgmma.cl likes rows
 *   MAP_AXIS(at, axis, size, box, step)      elements of the tensor, and of a box every `step`-th
 *                                            of `box`
 *   MAP_STRIDE(at, axis, bytes) from one to the next along axis + 1, a multiple of 16
 *   MAP_PUBLISH(to, at)         by all items of a warp, after a barrier: from local to global
 *                               memory, a multiple of 128
 *   MAP_ACQUIRE(map)            before its first use
 *
 * OpenCL's compiler makes no maps for an older target: see wgmma.cl.
 */
#include "language.cl"

#define ARRIVAL_INIT(at, count)                                                                    \
    __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(at), "r"(count) : "memory")
#define ARRIVAL_FENCE_INIT                                                                         \
    __asm__ volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;"        \
                     :                                                                             \
                     :                                                                             \
                     : "memory")
#define ARRIVAL_EXPECT(at, bytes)                                                                  \
    __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"                      \
                     :                                                                             \
                     : "r"(at), "r"(bytes)                                                         \
                     : "memory")
#define ARRIVAL_ARRIVE(at)                                                                         \
    __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(at) : "memory")

INLINE void arrival_wait(const uint at, const uint parity)
{
    uint ended = 0;
    while (!ended)
        __asm__ volatile("{\n.reg .pred ended;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, ended;\n}"
                         : "=r"(ended)
                         : "r"(at), "r"(parity)
                         : "memory");
}

#define COPY_BYTES(to, from, bytes, arrival)                                                       \
    __asm__ volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "          \
                     "[%0], [%1], %2, [%3];"                                                       \
                     :                                                                             \
                     : "r"(to), "l"(from), "r"(bytes), "r"(arrival)                                \
                     : "memory")
#define COPY_BOX(to, map, c, w, h, n, arrival)                                                     \
    __asm__ volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile"                         \
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"           \
                     :                                                                             \
                     : "r"(to), "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(arrival)             \
                     : "memory")
#define COPY_BOX_OF_BLOCKS(to, map, w, h, n, block, arrival)                                       \
    __asm__ volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile"                         \
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"       \
                     :                                                                             \
                     : "r"(to), "l"(map), "r"(0), "r"(w), "r"(h), "r"(n), "r"(block), "r"(arrival) \
                     : "memory")
#define COPY_FENCE_REUSE __asm__ volatile("fence.proxy.async.shared::cta;" : : : "memory")

#define REGISTERS_LESS(n)                                                                          \
    __asm__ volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(n) : "memory")
#define REGISTERS_MORE(n)                                                                          \
    __asm__ volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(n) : "memory")

/* ---- tensor maps ---- */

#define MAP_BYTES 128

INLINE void map_clear(local uchar *map, const int lane)
{
    if (lane < MAP_BYTES / 16)
        ((local uint4 *)map)[lane] = (uint4)(0);
}

#define MAP_REPLACE_(field, type, rest)                                                            \
    "tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " rest ";\n"
#define MAP_NAME(at, field, value)                                                                 \
    __asm__ volatile(MAP_REPLACE_(field, "b32", value) : : "r"(at) : "memory")
#define MAP_FIELD(at, field, axis, value)                                                          \
    __asm__ volatile(MAP_REPLACE_(field, "b32", #axis ", %1")                                      \
                     :                                                                             \
                     : "r"(at), "r"((uint)(value))                                                 \
                     : "memory")

#define MAP_OF_1 "0"
#define MAP_OF_2 "1"
#define MAP_OF_4 "2"
#define MAP_AXES_4 "3" /* and one */
#define MAP_AXES_5 "4"
#define MAP_ROW_16 "0"
#define MAP_ROW_32 "1"
#define MAP_ROW_64 "2"
#define MAP_ROW_128 "3"
#define MAP_TENSOR(at, tensor, axes, type, row)                                                    \
    do {                                                                                           \
        __asm__ volatile(MAP_REPLACE_("global_address", "b64", "%1")                               \
                         :                                                                         \
                         : "r"(at), "l"(tensor)                                                    \
                         : "memory");                                                              \
        MAP_NAME(at, "rank", axes);                                                                \
        MAP_NAME(at, "elemtype", type);                                                            \
        MAP_NAME(at, "interleave_layout", "0");                                                    \
        MAP_NAME(at, "swizzle_mode", row);                                                         \
        MAP_NAME(at, "fill_mode", "0");    /* zeros */                                             \
    } while (0)
#define MAP_AXIS(at, axis, size, box, step)                                                        \
    do {                                                                                           \
        MAP_FIELD(at, "global_dim", axis, size);                                                   \
        MAP_FIELD(at, "box_dim", axis, box);                                                       \
        MAP_FIELD(at, "element_stride", axis, step);                                               \
    } while (0)
#define MAP_STRIDE(at, axis, bytes)                                                                \
    __asm__ volatile(MAP_REPLACE_("global_stride", "b64", #axis ", %1")                            \
                     :                                                                             \
                     : "r"(at), "l"((ulong)(bytes))                                                \
                     : "memory")

#define MAP_PUBLISH(to, at)                                                                        \
    __asm__ volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"   \
                     ".sync.aligned [%0], [%1], 128;"                                              \
                     :                                                                             \
                     : "l"(to), "r"(at)                                                            \
                     : "memory")
#define MAP_ACQUIRE(map)                                                                           \
    __asm__ volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;"                       \
                     :                                                                             \
                     : "l"(map)                                                                    \
                     : "memory")
