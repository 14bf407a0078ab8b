/* detect: which tiers this processor has, and whether the operating system keeps their registers.
 */
#include "kernels/cpu/cpu_internal.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define LEAF_1_ECX_FMA     (1u << 12)
#define LEAF_1_ECX_OSXSAVE (1u << 27)
#define LEAF_1_ECX_AVX     (1u << 28)
#define LEAF_1_ECX_F16C    (1u << 29)
#define LEAF_7_EBX_AVX2    (1u << 5)
#define LEAF_7_EBX_AVX512  (1u << 16 | 1u << 17 | 1u << 30 | 1u << 31) /* F DQ BW VL */
#define XCR0_AVX           (1u << 1 | 1u << 2)
#define XCR0_AVX512        (1u << 5 | 1u << 6 | 1u << 7)
#define LEAF_NAME          0x80000002u

static uint32_t xgetbv_0(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

enum cpu_tier cpu_detect(void)
{
    unsigned eax, ebx, ecx, edx;
    const unsigned wanted = LEAF_1_ECX_FMA | LEAF_1_ECX_OSXSAVE | LEAF_1_ECX_AVX | LEAF_1_ECX_F16C;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & wanted) != wanted)
        return CPU_PORTABLE;
    uint32_t kept = xgetbv_0();
    if ((kept & XCR0_AVX) != XCR0_AVX || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
        !(ebx & LEAF_7_EBX_AVX2))
        return CPU_PORTABLE;
    if ((kept & XCR0_AVX512) != XCR0_AVX512 || (ebx & LEAF_7_EBX_AVX512) != LEAF_7_EBX_AVX512)
        return CPU_AVX2;
    return CPU_AVX512;
}

void cpu_model(char *ret_model, size_t size)
{
    unsigned words[13] = {0};
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(LEAF_NAME + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            break;
    const char *name = (const char *)words;
    while (*name == ' ')
        name++;
    int length = (int)strnlen(name, sizeof(words) - (size_t)(name - (const char *)words));
    while (length > 0 && name[length - 1] == ' ')
        length--;
    snprintf(ret_model, size, "%.*s", length > 0 ? length : 6, length > 0 ? name : "x86-64");
}
#else
enum cpu_tier cpu_detect(void)
{
    return CPU_PORTABLE;
}

void cpu_model(char *ret_model, size_t size)
{
    snprintf(ret_model, size, "cpu");
}
#endif

const struct cpu_loops *cpu_loops_of(enum cpu_tier tier)
{
    switch (tier) {
#if defined(__x86_64__)
    case CPU_AVX512:
        return &cpu_loops_avx512;
    case CPU_AVX2:
        return &cpu_loops_avx2;
#endif
    case CPU_PORTABLE:
        return &cpu_loops_portable;
    default:
        return NULL;
    }
}

bool cpu_tier_of(const char *word, enum cpu_tier *ret_tier)
{
    static const char *const words[] = {"portable", "avx2", "avx512"};
    for (int tier = CPU_PORTABLE; tier <= CPU_AVX512; tier++)
        if (strcmp(word, words[tier]) == 0) {
            *ret_tier = (enum cpu_tier)tier;
            return true;
        }
    return false;
}
