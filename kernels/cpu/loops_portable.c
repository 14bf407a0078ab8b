/* loops_portable: the loops of loops_internal.h, compiled for this tier. */
#include "kernels/cpu/loops_internal.h"

LOOPS_TABLE(cpu_loops_portable, CPU_PORTABLE, "portable", 4, 8, cpu_gemm_tile_portable,
            cpu_correlate_portable, cpu_transpose_portable);
