/* loops_portable: the loops of loops_internal.h, compiled for this tier. */
#include "kernels/cpu/loops_internal.h"

LOOPS_TABLE(portable, CPU_PORTABLE, portable, portable, 4, 8);
