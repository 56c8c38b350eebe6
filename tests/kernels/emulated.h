// Runs CUDA source on the CPU, thread by thread: enough of CUDA for one kernel of shuffles, barriers and shared memory.
// Every thread is a fiber. The lanes of a warp meet at each shuffle, and all warps of a block at each barrier.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__
#define __launch_bounds__(...)
struct float2 { float x, y; };
struct Place { int x; };
static Place threadIdx, blockIdx, gridDim;
// Shared memory of ARENA floats ends where a page ends, and the next pages must not be touched.
#define GAP ((4096 - 4 * ARENA % 4096) % 4096)
#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
extern "C" { alignas(4096) char memory[GAP + 4 * ARENA + 65536]; }
asm(".globl arena\n.hidden arena\n.set arena, memory + " TEXT((4096 - 4 * ARENA % 4096) % 4096));
extern "C" float arena[];
static float words[2][32];         // what lanes show each other; two, so that nobody is overwritten before being read
static ucontext_t scheduler;
enum State { RUNNING, SHUFFLE, BARRIER, DONE };
struct Fiber { ucontext_t context; std::vector<char> stack; State state; int shuffles; };
static std::vector<Fiber> fibers;
static void meet(State state) {
  Fiber& me = fibers[threadIdx.x];
  me.state = state;
  swapcontext(&me.context, &scheduler);
}
static float shown(float value, int lane) {
  Fiber& me = fibers[threadIdx.x];
  float* mine = words[me.shuffles++ & 1];
  mine[threadIdx.x % 32] = value;
  meet(SHUFFLE);
  return mine[lane >= 0 && lane < 32 ? lane : threadIdx.x % 32];
}
static float __shfl_up_sync(unsigned, float value, int by) { return shown(value, threadIdx.x % 32 - by); }
static float __shfl_down_sync(unsigned, float value, int by) { return shown(value, threadIdx.x % 32 + by); }
static float __shfl_xor_sync(unsigned, float value, int by) { return shown(value, threadIdx.x % 32 ^ by); }
static int __shfl_sync(unsigned, int value, int lane) { return (int)shown((float)value, lane); }
static void __syncthreads() { meet(BARRIER); }
static void (*body)();
static void enter() { body(); meet(DONE); }
// Run one block: each warp until its lanes are all at a barrier or done, lanes in turn from meeting to meeting.
static void run_block(int threads) {
  fibers.assign(threads, Fiber());
  for (int n = 0; n < threads; n++) {
    Fiber& f = fibers[n];
    f.stack.resize(1 << 16); f.state = RUNNING; f.shuffles = 0;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.data(); f.context.uc_stack.ss_size = f.stack.size(); f.context.uc_link = &scheduler;
    makecontext(&f.context, enter, 0);
  }
  for (bool is_done = false; !is_done;) {
    for (int warp = 0; warp < threads; warp += 32)
      for (bool waits = false; !waits;) {
        for (int lane = 0; lane < 32; lane++) {
          threadIdx.x = warp + lane;
          swapcontext(&scheduler, &fibers[threadIdx.x].context);
        }
        for (int lane = 1; lane < 32; lane++)
          if (fibers[warp + lane].state != fibers[warp].state) { fprintf(stderr, "lanes of a warp have parted\n"); exit(3); }
        waits = fibers[warp].state != SHUFFLE;
      }
    is_done = fibers[0].state == DONE;
  }
}
