/* winograd_steps.cl: the steps after the transform of the source in winograd.cl and
 * winograd_int8.cl: the products, the transform of tiles, and all steps in one item.
 *
 * winograd.cl and winograd_int8.cl define:
 *   D_CP                rows of u: factors of a tile's products, D_TOGETHER (or one) channels each
 *   D_P_PLANE           from one of the D_E products to the next in p
 *   SUM_V               vectors that A^T takes: TO_SUM(v) of a vector of p; FROM_SUM(v) makes
 *                       results of them
 *   TIMES_A(a, p, o)    A^T p along axis a
 *   store_run()         below
 */
#include "products.cl"

#if D_TOGETHER > 1
#define D_FACTORS (D_B / D_TOGETHER)
/* Were it unrolled, the compiler would add products of several pairs before the sums, in more
 * registers than there are. */
#define EACH_FACTOR _Pragma("nounroll")
#else
#define D_FACTORS D_B
#define EACH_FACTOR _Pragma("unroll 4")
#endif

/* The filters of the next item are prefetched from memory while those of this item are multiplied:
 * each group of T_W tiles prefetches some vectors of every row. */
#if D_FILTERS_AHEAD
#define D_TILE_GROUPS (T_TILES / T_W)
#define D_FETCHED ((T_KV + D_TILE_GROUPS - 1) / D_TILE_GROUPS)
#else
#define D_FETCHED 0
#endif

PRODUCTS_INLINE void add_factors(ACC_V *acc, KEPT const ACC_T *v, global const ACC_T *u,
                                 const int factors, global const ACC_T *next)
{
    EACH_FACTOR
    for (int c = 0; c < factors; c++) {
#pragma unroll
        for (int k = 0; k < D_FETCHED; k++)
            KILN_FETCH(next + c * D_KT + k * D_B);
        ACC_V w[T_KV];
#pragma unroll
        for (int k = 0; k < T_KV; k++)
            w[k] = LOAD_V(u + c * D_KT + k * D_B);
#pragma unroll
        for (int i = 0; i < T_W; i++) {
            const ACC_V a = (ACC_V)(v[i * D_FACTORS + c]);
#pragma unroll
            for (int k = 0; k < T_KV; k++)
                ADD_PRODUCT(acc[i * T_KV + k], a, w[k]);
        }
    }
}

/* Computes one of the D_E products. v, p and u start at its elements, `next` at the same element of
 * the next item's u. */
PRODUCTS_FUNCTION void multiply(KEPT KEPT_SUM_V *p, KEPT const KEPT_PATCH_V *v,
                                global const ACC_T *u, global const ACC_T *next, const int count)
{
#pragma nounroll
    for (int t = 0; t < count; t += T_W) {
        ACC_V acc[T_W * T_KV];
#pragma unroll
        for (int i = 0; i < T_W * T_KV; i++)
            acc[i] = (ACC_V)(0);
        KEPT const ACC_T *from = (KEPT const ACC_T *)(v + t);
        global const ACC_T *row = u;
        global const ACC_T *soon = next + min(t / T_W * D_FETCHED, T_KV - D_FETCHED) * D_B;
#pragma nounroll
        for (int b = 0; b < D_CP / D_FACTORS; b++) {
            add_factors(acc, from, row, D_FACTORS, soon);
            from += D_ROOM * D_FACTORS;
            row += D_FACTORS * D_KT;
            soon += D_FACTORS * D_KT;
        }
        if (D_CP % D_FACTORS)
            add_factors(acc, from, row, D_CP % D_FACTORS, soon);
#pragma unroll
        for (int i = 0; i < T_W; i++)
#pragma unroll
            for (int k = 0; k < T_KV; k++)
                p[k * D_ROOM + t + i] = acc[i * T_KV + k];
    }
}

/* A^T p A of one tile and block. */
INLINE void tile_of(ACC_V o[D_MH][D_MW], KEPT const KEPT_SUM_V *p)
{
    SUM_V mid[D_TW][D_MH], d[T_T], row[D_MW];
#pragma unroll
    for (int j = 0; j < D_TW; j++) {
#pragma unroll
        for (int i = 0; i < D_TH; i++)
            d[i] = TO_SUM(p[(i * D_TW + j) * D_P_PLANE]);
        TIMES_A(H, d, mid[j]);
    }
#pragma unroll
    for (int i = 0; i < D_MH; i++) {
#pragma unroll
        for (int j = 0; j < D_TW; j++)
            d[j] = mid[j][i];
        TIMES_A(W, d, row);
#pragma unroll
        for (int j = 0; j < D_MW; j++)
            o[i][j] = FROM_SUM(row[j]);
    }
}

/* Stores block `block` of a run; p has the sums of this block, for all tiles of the item. */
INLINE void store_run(global DST_T *dst, local PATCH_V *strip, KEPT const KEPT_SUM_V *p,
                      const run r, const int group, const int block EPILOGUE_PARAMS);

/* Stores blocks `from` to `to - 1` of the item's tiles; p starts with block `from`. */
INLINE void store(global DST_T *dst, local PATCH_V *strip, KEPT const KEPT_SUM_V *p, const int tile,
                  const int count, const int group, const int from, const int to EPILOGUE_PARAMS)
{
#pragma nounroll
    for (int first = 0; first < count;) {
        run r;
        find_run(&r, tile, first, count);
#pragma nounroll
        for (int k = from; k < to; k++)
            store_run(dst, strip, p + (k - from) * D_ROOM, r, group, k EPILOGUE_PASS);
        first += r.tiles;
    }
}

#if !D_STAGED
/* Does all steps for the tiles from `tile` on and part `part`, of T_SPLIT, of a group's
 * destination. */
INLINE void all_steps(KEPT KEPT_PATCH_V *v, KEPT KEPT_SUM_V *p, local PATCH_V *strip,
                      global const SRC_T *src, global const ACC_T *u, global DST_T *dst,
                      const int tile, const int part, const int group EPILOGUE_PARAMS)
{
    const int count = min(T_TILES, D_TILES - tile);
    const int from = (int)((long)D_DST_TILES * part / T_SPLIT);
    const int to = (int)((long)D_DST_TILES * (part + 1) / T_SPLIT);
    transform_source(v, strip, src, tile, count, group, 0, D_SRC_VECTORS);
    u += ((INDEX_T)group * D_DST_TILES + from) * (D_E * D_CP * D_KT);
#pragma nounroll
    for (int kt = from; kt < to; kt++) {
#pragma nounroll
        for (int e = 0; e < D_E; e++, u += D_CP * D_KT)
            multiply(p + e * D_P_PLANE, v + e * D_V_PLANE, u, u, count);
        store(dst, strip, p, tile, count, group, kt * T_KV, min(kt * T_KV + T_KV, D_DST_VECTORS)
              EPILOGUE_PASS);
    }
}
#endif
