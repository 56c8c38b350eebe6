// myrtle.cu as a library for the CPU: see emulated.h. What the kernel must not read before it is written is NaN.
#include "emulated.h"
#include "myrtle.cu"
static const float *images, *others;
static float *values, *waiting;
static int row_count, column_count, chosen;
extern "C" int card_floats() { return CARD; }
extern "C" int shared_floats() { return SHARED_FLOATS; }
extern "C" int scratch_floats() { return SLOT; }
extern "C" void run(const float* x, const float* z, float* result, int rows, int columns, int which, int blocks) {
  images = x; others = z; values = result; row_count = rows; column_count = columns; chosen = which;
  std::vector<float> scratch((size_t)blocks * SLOT, NAN);
  waiting = scratch.data();
  gridDim.x = blocks;
  mprotect(memory + GAP + 4 * ARENA, 65536, PROT_NONE);
  body = [] { myrtle(images, others, values, waiting, row_count, column_count, chosen); };
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    std::fill(arena, arena + ARENA, NAN);
    run_block(THREADS);
  }
}
