/* loops_avx512: the loops of loops_internal.h, compiled for this tier. */
#include "kernels/cpu/loops_internal.h"

#if defined(__x86_64__)
LOOPS_TABLE(avx512, CPU_AVX512, avx2, avx512, 14, 32);
#endif
