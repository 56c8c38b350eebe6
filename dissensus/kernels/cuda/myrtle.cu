// A compositional kernel of two images, whole, on one multiprocessor: blocks of 3x3 convolution + embedding on maps of
// SIDE, SIDE/2 and SIDE/4, 2x2 pooling between them, and the mean of what is left. One block of threads takes one pair
// of images at a time; nothing but the result leaves the chip (and 32 KB of scratch per block, see `wait`).
//
// For a fixed displacement between the two images (position i of x, k = i + d of z) a convolution is a 3x3 box filter on
// one map. Displacements are circular, k = (i + d) mod SIDE, so that d and d - SIDE share one full map; boxes are cut at
// the edges of x (rows of zeros around it) and where k wraps. A warp streams down the rows of TILE maps at once: lanes
// are columns, horizontal sums are shuffles, vertical sums are rolling registers, and all layers of a block follow each
// other in registers. Rows of z come into a window of registers once and serve all TILE maps.
//
// Pooling sends position i at displacement d to i/2 at displacement (d + (i & 1)) / 2, in rows and in columns. An odd
// displacement thus feeds two coarse ones, its own and the one above; a warp owns the coarse displacement of its columns
// and leaves what belongs to the one above in a place of its own, so that no two warps ever write to the same word: the
// order of every sum is fixed, and results do not change from run to run.
//
// Set by the host: SIDE, CHANNELS, FIRST, SECOND, THIRD (layers per block), RELU (0 or 1), TILE, WARPS.

#define HALF (SIDE / 2)
#define QUARTER (SIDE / 4)
#define COLUMNS 2                          // per lane; half a warp takes an even column displacement, the other half the next
#define LANES 16                           // that share a row of SIDE columns
#define THREADS (32 * WARPS)
#define PLANES (CHANNELS + 2 * FIRST)      // pixels, then r and a of each layer
#define ROWS (FIRST + SIDE + TILE)         // rows of x in shared memory, with rows of nothing above and below
#define COARSE (2 * SECOND * HALF * HALF)  // r and a, side by side, of the layers on maps of HALF, then of QUARTER
#define COARSEST (2 * THIRD * QUARTER * QUARTER)
#define CARD (PLANES * SIDE * SIDE + COARSE + COARSEST)   // floats per image, in this order
#define SLOT (HALF * HALF * 2 * HALF)      // maps of one coarse row displacement: [column displacement][row][own, above][column]
#define LAST (QUARTER * QUARTER * QUARTER * 2 * QUARTER)
#define NOTHING (-1e30f)                   // the logarithm of a norm of zero
#define ALL 0xffffffffu                    // lanes
#define TRIANGLE 1
#define DIAGONAL 2

// z's norms on coarse maps start with copies of the last rows, so that a row of any layer is never before the first.
#define TALL(size, layers) (2 * layers * (size + 2 * layers) * size)

// Shared memory, in floats.
#define X_AT 0
#define Z_AT (PLANES * ROWS * SIDE)
#define XC_AT (Z_AT + PLANES * SIDE * SIDE)
#define ZC_AT (XC_AT + COARSE + COARSEST)
#define SLOTS_AT (ZC_AT + TALL(HALF, SECOND) + TALL(QUARTER, THIRD))
#define LAST_AT (SLOTS_AT + (TILE / 2 + 1) * SLOT)
#define SHARED_FLOATS (LAST_AT + LAST)

// The embedding of an inner product `sum`, given what the norms of both sides say.
// Gaussian: r = sqrt(gamma log2 e) / A, a = log2 A - gamma log2(e) / 2.  ReLU: r = 1 / A, a = A.
__device__ __forceinline__ float embedded(float sum, float rx, float rz, float ax, float az) {
#if RELU
  const float c = sum * (rx * rz), s = fmaxf(1.f - fabsf(c), 0.f);
  float p = 1.678542007e-4f;               // (g(c) - c) / s^1.5 on [0, 1] to 4.2e-8, where g(-c) = g(c) - c
  p = fmaf(p, s, -1.571320007e-5f);
  p = fmaf(p, s, 6.585370869e-4f);
  p = fmaf(p, s, 2.386197821e-3f);
  p = fmaf(p, s, 1.500756255e-2f);
  p = fmaf(p, s, 3.001054057e-1f);
  return fmaf(s * sqrtf(s), p, fmaxf(c, 0.f)) * (ax * az);
#else
  return exp2f(fmaf(sum, rx * rz, ax + az));
#endif
}

// Where a row of three is cut: at the edges of x and where the column of z wraps.
struct Cuts { float left, inner, right; };

__device__ __forceinline__ void row_sums(const float (&v)[COLUMNS], const Cuts& cut, float (&sum)[COLUMNS]) {
  const float left = __shfl_up_sync(ALL, v[COLUMNS - 1], 1), right = __shfl_down_sync(ALL, v[0], 1);
  sum[0] = fmaf(cut.left, left, fmaf(cut.inner, v[1], v[0]));
  sum[1] = fmaf(cut.right, right, fmaf(cut.inner, v[0], v[1]));
}

// What a warp carries down the rows of TILE maps.
struct Stream {
  float above[FIRST][TILE][COLUMNS], here[FIRST][TILE][COLUMNS];   // row sums of the two latest rows, per layer
  float window[PLANES][TILE][COLUMNS];                             // rows of z, each in the place of its number mod TILE
  float pooled[TILE / 2 + 1][COLUMNS];                             // the even row of a pair of rows, before the odd one joins
};

__device__ __forceinline__ int delay(int plane) {   // layer l is l rows behind the pixels
  return plane < CHANNELS ? 0 : (plane - CHANNELS) / 2 + 1;
}

// One row of all TILE maps; `u` = t mod TILE is known to the compiler. WRAPS: some map passes from z's last row to its first.
template <bool WRAPS>
__device__ __forceinline__ void advance(Stream& s, const float* __restrict__ x, const float* __restrict__ z, int t, int u, int d0, const int (&column)[COLUMNS],
                                        const Cuts& cut, int lane, int half, float* __restrict__ slots, int slot0) {
  float xs[PLANES][COLUMNS];
#pragma unroll
  for (int p = 0; p < PLANES; p++) {
    const float* row = x + (p * ROWS + FIRST + t - delay(p)) * SIDE + COLUMNS * (lane % LANES);
    int k = t - delay(p) + d0 + TILE - 1;   // from -FIRST to less than 3 SIDE
    k = k >= SIDE ? k - SIDE : k;
    k = k >= SIDE ? k - SIDE : k;
    k = k < 0 ? k + SIDE : k;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      xs[p][c] = row[c];
      s.window[p][(u + 2 * TILE - delay(p) % TILE - 1) % TILE][c] = z[(p * SIDE + k) * SIDE + column[c]];
    }
  }
  float out[TILE][COLUMNS];
#pragma unroll
  for (int q = 0; q < TILE; q++) {
    float v[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      v[c] = 0.f;
#pragma unroll
      for (int p = 0; p < CHANNELS; p++) v[c] = fmaf(xs[p][c], s.window[p][(u + q) % TILE][c], v[c]);
    }
#pragma unroll
    for (int l = 0; l < FIRST; l++) {
      float below[COLUMNS];
      row_sums(v, cut, below);
      const int r = CHANNELS + 2 * l, at = (u + q + 2 * TILE - (l + 1) % TILE) % TILE;
      int k = t - l - 1 + d0 + q;
      if (WRAPS) { k = k >= SIDE ? k - SIDE : k; k = k >= SIDE ? k - SIDE : k; k = k < 0 ? k + SIDE : k; }
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) {
        float sum;
        if (WRAPS) sum = s.here[l][q][c] + (k != 0 ? s.above[l][q][c] : 0.f) + (k != SIDE - 1 ? below[c] : 0.f);
        else sum = s.here[l][q][c] + s.above[l][q][c] + below[c];
        s.above[l][q][c] = s.here[l][q][c];
        s.here[l][q][c] = below[c];
        v[c] = embedded(sum, xs[r][c], s.window[r][at][c], xs[r + 1][c], s.window[r + 1][at][c]);
        if (SIDE < 32 && COLUMNS * (lane % LANES) >= SIDE) v[c] = 0.f;   // lanes without a column
      }
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) out[q][c] = v[c];
  }

  // Pool: two rows in registers, then columns by a shuffle, then one word per lane. Rows above the image are zeros, and
  // what they add or store is nothing, or overwritten; rows below it exist only in the last steps.
  const int i = t - FIRST;
  const bool is_odd = (u + FIRST) & 1;   // i, as TILE is even
  const bool may_end = u >= SIDE + FIRST - TILE * ((SIDE + FIRST - 1) / TILE);
#pragma unroll
  for (int k = 0; k <= TILE / 2; k++) {
    float v[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      v[c] = is_odd ? s.pooled[k][c] : 0.f;
      if (2 * k < TILE) v[c] += out[2 * k % TILE][c];
      if (!is_odd && 2 * k + 1 < TILE) v[c] += out[(2 * k + 1) % TILE][c];
      if (is_odd && k > 0) v[c] += out[(2 * k + TILE - 1) % TILE][c];
      s.pooled[k][c] = v[c];
    }
    if (!is_odd) continue;
    const float own = half ? v[0] : v[0] + v[1];   // both columns of an even displacement, the even one of an odd
    const float other = __shfl_xor_sync(ALL, own, 16);
    const float word = half ? v[1] : own + other;
    if (lane % LANES < HALF && (!may_end || i < SIDE)) {
      int slot = slot0 + k;
      slot = slot > TILE / 2 ? slot - TILE / 2 - 1 : slot;
      float* to = slots + slot * SLOT + (i > 0 ? i / 2 : 0) * 2 * HALF + half * HALF + lane % LANES;
      if (k == 0) *to += word;   // the first slot holds what the last tile left for it
      else *to = word;
    }
  }
}

// All rows of TILE maps: row displacements d0, …, and the column displacements of one coarse one.
__device__ __forceinline__ void first_block(const float* __restrict__ x, const float* __restrict__ z, int d0, int coarse, int half, int lane, float* __restrict__ slots, int slot0) {
  Stream s;
  const int dj = 2 * coarse + half;
  int column[COLUMNS];
  int last = 0;
#pragma unroll
  for (int c = 0; c < COLUMNS; c++) {
    const int j = COLUMNS * (lane % LANES) + c;
    column[c] = (j < SIDE ? j + dj : dj) % SIDE;
    last = j;
  }
  Cuts cut;
  cut.left = (last - COLUMNS + 1 > 0 && column[0] != 0) ? 1.f : 0.f;
  cut.inner = column[COLUMNS - 1] != 0 ? 1.f : 0.f;
  cut.right = (last < SIDE - 1 && column[COLUMNS - 1] != SIDE - 1) ? 1.f : 0.f;
#pragma unroll
  for (int q = 0; q < TILE; q++)
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
      for (int l = 0; l < FIRST; l++) s.above[l][q][c] = s.here[l][q][c] = 0.f;
#pragma unroll
      for (int p = 0; p < PLANES; p++) {
        const int k = (d0 + q + SIDE - delay(p)) % SIDE;
        s.window[p][(q + 2 * TILE - delay(p) % TILE) % TILE][c] = q < TILE - 1 ? z[(p * SIDE + k) * SIDE + column[c]] : 0.f;
      }
    }
#pragma unroll
  for (int k = 0; k <= TILE / 2; k++)
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) s.pooled[k][c] = 0.f;
  float* to = slots + coarse * HALF * 2 * HALF;
  for (int t0 = 0; t0 < SIDE + FIRST; t0 += TILE) {
    const int k0 = (t0 + d0) % SIDE;
    if (k0 >= SIDE - TILE || k0 <= FIRST) {
#pragma unroll
      for (int u = 0; u < TILE; u++) advance<true>(s, x, z, t0 + u, u, d0, column, cut, lane, half, to, slot0);
    } else {
#pragma unroll
      for (int u = 0; u < TILE; u++) advance<false>(s, x, z, t0 + u, u, d0, column, cut, lane, half, to, slot0);
    }
  }
}

// What the later blocks have in common: COUNT maps of SIZE x SIZE at once, SIZE lanes to a row, LAYERS layers. Layers
// work on what the one before left in the previous step, so that none waits for another. `in(c, row)` is the input
// of map c, `out(c, row, value)` takes the result. There are no branches: rows beyond the image are read from
// whatever lies there, and dropped; inputs lie at the end of shared memory, so they are read within the image alone.
template <int SIZE, int LAYERS, int COUNT, class In, class Out>
__device__ __forceinline__ void later_block(const float* xc, const float* zc, const int (&di)[COUNT], int dj, int j, In in, Out out) {
  const int l = j < SIZE ? (j + dj) % SIZE : 0, at = j < SIZE ? j : 0;
  const float left_cut = (j > 0 && l != 0) ? 1.f : 0.f, right_cut = (j < SIZE - 1 && l != SIZE - 1) ? 1.f : 0.f;
  const float2 *xs = (const float2*)xc + at, *zs = (const float2*)zc + 2 * LAYERS * SIZE + l;   // r and a
  int k[COUNT];   // the row of z that row t of x meets
  float above[COUNT][LAYERS], here[COUNT][LAYERS], v[COUNT][LAYERS + 1];
#pragma unroll
  for (int c = 0; c < COUNT; c++) {
    v[c][0] = 0.f;
    k[c] = di[c] % SIZE;
#pragma unroll
    for (int n = 0; n < LAYERS; n++) above[c][n] = here[c][n] = v[c][n + 1] = 0.f;
  }
#pragma unroll 2
  for (int t = 0; t < SIZE + 2 * LAYERS; t++) {
#pragma unroll
    for (int n = LAYERS; n > 0; n--) {
      const int i = t - 2 * n;
      const bool is_row = i >= 0 && i < SIZE;
      const float2 x = xs[((n - 1) * SIZE + i) * SIZE];
#pragma unroll
      for (int c = 0; c < COUNT; c++) {
        const float left = __shfl_up_sync(ALL, v[c][n - 1], 1), right = __shfl_down_sync(ALL, v[c][n - 1], 1);
        const float below = fmaf(left_cut, left, fmaf(right_cut, right, v[c][n - 1]));
        const bool is_first = k[c] == 2 * n % SIZE, is_last = k[c] == (2 * n + SIZE - 1) % SIZE;   // row of z, 2n rows ago
        const float sum = here[c][n - 1] + (is_first ? 0.f : above[c][n - 1]) + (is_last ? 0.f : below);
        const float2 z = zs[((n - 1) * (SIZE + 2 * LAYERS) + k[c] - 2 * n) * SIZE];
        const float value = embedded(sum, x.x, z.x, x.y, z.y);
        v[c][n] = is_row && (SIZE == 8 || SIZE == 16 || j < SIZE) ? value : 0.f;
        above[c][n - 1] = here[c][n - 1];
        here[c][n - 1] = below;
      }
    }
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      const float value = in(c, t < SIZE ? t : SIZE - 1);
      v[c][0] = t < SIZE && (SIZE == 8 || SIZE == 16 || j < SIZE) ? value : 0.f;
      if (t >= 2 * LAYERS) out(c, t - 2 * LAYERS, v[c][LAYERS]);
      k[c] = k[c] == SIZE - 1 ? 0 : k[c] + 1;
    }
  }
}

// COUNT coarse row displacements from `di0` on, whose maps lie in the slots from `slot` on, and two column displacements
// to a warp; pools into `last`.
template <int COUNT>
__device__ __forceinline__ void second_block(const float* shared, const float* slots, int slot, int di0, float* last, int warp, int lane) {
  const int half = lane / 16, j = lane % 16;
  for (int pair = warp; pair < QUARTER; pair += WARPS) {
    const int dj = 2 * pair + half, below = (dj + HALF - 1) % HALF;
    int di[COUNT];
    const float *own[COUNT], *left[COUNT];   // the map, and what the displacement before left for it
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      di[c] = di0 + c;
      const float* map = slots + ((slot + c) % (TILE / 2 + 1)) * SLOT + (j < HALF ? j : 0);
      own[c] = map + dj * HALF * 2 * HALF;
      left[c] = map + below * HALF * 2 * HALF + HALF;
    }
    auto in = [&](int c, int i) { return (own[c][i * 2 * HALF] + left[c][i * 2 * HALF]) * (1.f / 16.f); };
    float* to = last + (pair * QUARTER * 2 + half) * QUARTER + j / 2;
    auto out = [&](int c, int i, float v) {
      const float both = v + __shfl_xor_sync(ALL, v, 1);
      const float mine = half ? v : both, other = __shfl_xor_sync(ALL, mine, 16);
      const int target = ((di[c] + (i & 1)) / 2) % QUARTER;
      if (j < HALF && (j & 1) == half) to[(target * QUARTER * QUARTER + i / 2) * 2 * QUARTER] += half ? v : mine + other;
    };
    later_block<HALF, SECOND, COUNT>(shared + XC_AT, shared + ZC_AT, di, dj, j, in, out);
  }
}

__device__ __forceinline__ float third_block(const float* shared, const float* last, int warp, int lane) {
  const int part = lane / 8, j = lane % 8;
  float total = 0.f;
  for (int job = warp; job < QUARTER * ((QUARTER + 3) / 4); job += WARPS) {
    const int di[1] = {job % QUARTER};
    const int dj = (job / QUARTER) * 4 + part, is_map = dj < QUARTER;
    const int own = is_map ? dj : 0, below = (own + QUARTER - 1) % QUARTER;
    const float* map = last + di[0] * QUARTER * QUARTER * 2 * QUARTER + (j < QUARTER ? j : 0);
    const float *mine = map + own * QUARTER * 2 * QUARTER, *left = map + below * QUARTER * 2 * QUARTER + QUARTER;
    auto in = [&](int, int i) { return (mine[i * 2 * QUARTER] + left[i * 2 * QUARTER]) * (1.f / 16.f); };
    auto out = [&](int, int, float v) { total += is_map ? v : 0.f; };
    later_block<QUARTER, THIRD, 1>(shared + XC_AT + COARSE, shared + ZC_AT + TALL(HALF, SECOND), di, own, j, in, out);
  }
  return total;
}

// Pixels and norms of an image, `above` rows of nothing before each plane, and of `rows` in all.
__device__ __forceinline__ void load(const float* card, float* to, int rows, int above) {
  for (int n = threadIdx.x; n < PLANES * rows * SIDE; n += THREADS) {
    const int p = n / (rows * SIDE), i = (n / SIDE) % rows - above, j = n % SIDE;
    const bool is_log = !RELU && p >= CHANNELS && (p - CHANNELS) % 2;
    to[n] = i >= 0 && i < SIDE ? card[(p * SIDE + i) * SIDE + j] : is_log ? NOTHING : 0.f;
  }
}

template <int SIZE, int LAYERS>
__device__ __forceinline__ void load_tall(const float* norms, float* to) {
  const int rows = SIZE + 2 * LAYERS;
  for (int n = threadIdx.x; n < TALL(SIZE, LAYERS); n += THREADS) {
    const int layer = n / (2 * rows * SIZE), i = (n / (2 * SIZE)) % rows + 2 * LAYERS * (SIZE - 1);
    to[n] = norms[(layer * SIZE + i % SIZE) * 2 * SIZE + n % (2 * SIZE)];
  }
}

// Pairs of `rows` images of X and `columns` images of Z: all of them, or the triangle column >= row, or the diagonal.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
myrtle(const float* X, const float* Z, float* result, float* scratch, int rows, int columns, int which) {
  extern __shared__ float arena[];
  float *slots = arena + SLOTS_AT, *last = arena + LAST_AT;
  float* wait = scratch + (long long)blockIdx.x * SLOT;
  const int lane = threadIdx.x % 32;
  const int warp = __shfl_sync(ALL, (int)threadIdx.x / 32, 0);   // the same in all lanes, and the compiler knows it
  int held = -1;   // the row whose image is in shared memory
  for (long long n = blockIdx.x; n < (which == DIAGONAL ? rows : (long long)rows * columns); n += gridDim.x) {
    const int row = (int)(which == DIAGONAL ? n : n / columns), column = (int)(which == DIAGONAL ? n : n % columns);
    if (which == TRIANGLE && column < row) continue;
    __syncthreads();
    const float *x = X + (long long)row * CARD, *z = Z + (long long)column * CARD;
    if (row != held) {
      load(x, arena + X_AT, ROWS, FIRST);
      for (int m = threadIdx.x; m < COARSE + COARSEST; m += THREADS) arena[XC_AT + m] = x[PLANES * SIDE * SIDE + m];
      held = row;
    }
    load(z, arena + Z_AT, SIDE, 0);
    load_tall<HALF, SECOND>(z + PLANES * SIDE * SIDE, arena + ZC_AT);
    load_tall<QUARTER, THIRD>(z + PLANES * SIDE * SIDE + COARSE, arena + ZC_AT + TALL(HALF, SECOND));
    for (int m = threadIdx.x; m < LAST; m += THREADS) last[m] = 0.f;
    for (int m = threadIdx.x; m < SLOT; m += THREADS) slots[m] = 0.f;
    __syncthreads();
    int slot = 0;   // of coarse displacement d0 / 2; the next ones follow, in a circle
    for (int d0 = 0; d0 < SIDE; d0 += TILE) {
      for (int coarse = warp; coarse < HALF; coarse += WARPS) {
        first_block(arena + X_AT, arena + Z_AT, d0, coarse, lane / 16, lane, slots, slot);
      }
      __syncthreads();
      if (d0 == 0) {   // coarse displacement 0 lacks what comes last, from displacement SIDE - 1: it waits
        for (int m = threadIdx.x; m < SLOT; m += THREADS) wait[m] = slots[slot * SLOT + m];
        if constexpr (TILE > 2) second_block<TILE / 2 - 1>(arena, slots, slot + 1, 1, last, warp, lane);
      } else {
        second_block<TILE / 2>(arena, slots, slot, d0 / 2, last, warp, lane);
      }
      __syncthreads();
      slot = (slot + TILE / 2) % (TILE / 2 + 1);
    }
    for (int m = threadIdx.x; m < SLOT; m += THREADS) slots[slot * SLOT + m] += wait[m];
    __syncthreads();
    second_block<1>(arena, slots, slot, 0, last, warp, lane);
    __syncthreads();
    float total = third_block(arena, last, warp, lane);
    for (int o = 16; o; o >>= 1) total += __shfl_xor_sync(ALL, total, o);
    if (lane == 0) slots[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
      total = 0.f;
      for (int w = 0; w < WARPS; w++) total += slots[w];
      result[n] = total / (QUARTER * QUARTER * QUARTER * QUARTER);
    }
  }
}
