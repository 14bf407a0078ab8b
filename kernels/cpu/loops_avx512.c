/* loops_avx512: the loops of loops_internal.h, compiled for this tier. */
#include "kernels/cpu/loops_internal.h"

#if defined(__x86_64__)
LOOPS_TABLE(cpu_loops_avx512, CPU_AVX512, "avx512", 14, 32, cpu_gemm_tile_avx512,
            cpu_correlate_avx512, cpu_transpose_avx2);
#endif
