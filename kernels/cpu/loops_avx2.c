/* loops_avx2: the loops of loops_internal.h, compiled for this tier. */
#include "kernels/cpu/loops_internal.h"

#if defined(__x86_64__)
LOOPS_TABLE(avx2, CPU_AVX2, avx2, portable, 6, 16);
#endif
