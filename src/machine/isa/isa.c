/* cpuid, XCR0 and the kernel's permission, folded into one level. */
#include "machine/isa/isa.h"

#include <stdbool.h>
#include <string.h>

#include "base/core/env.h"

static const char *const level_names[ISA_N_LEVELS] = {"ref", "avx2", "avx512", "avx512_bf16", "amx"};

const char *isa_level_name(enum isa_level level)
{
    return level_names[level];
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* XCR0: which register files the operating system saves (Intel SDM vol. 1, 13.3). */
static unsigned long long read_xcr0(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) {
        return 0;
    }
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (unsigned long long)high << 32 | low;
}

/* Linux gives the 8 KiB of tile data only on request (arch_prctl, kernel 5.16). */
static bool may_use_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

enum isa_level isa_detect(void)
{
    enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6, XCR0_AMX = 0x60000 };
    const unsigned long long xcr0 = read_xcr0();
    unsigned a, b1, c1, d1, b7, c7, d7, a71, b71, c71, d71;
    if (!__get_cpuid(1, &a, &b1, &c1, &d1) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7) ||
        !__get_cpuid_count(7, 1, &a71, &b71, &c71, &d71)) {
        return ISA_REF;
    }
    const unsigned avx2_1 = bit_AVX | bit_FMA | bit_F16C;
    if ((xcr0 & XCR0_AVX) != XCR0_AVX || (c1 & avx2_1) != avx2_1 || !(b7 & bit_AVX2)) {
        return ISA_REF;
    }
    const unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((xcr0 & XCR0_AVX512) != XCR0_AVX512 || (b7 & avx512) != avx512) {
        return ISA_AVX2;
    }
    enum { AVX512_BF16_EAX = 1 << 5, AMX_BF16_EDX = 1 << 22, AMX_TILE_EDX = 1 << 24 };
    if (!(a71 & AVX512_BF16_EAX)) {
        return ISA_AVX512;
    }
    const unsigned amx = AMX_BF16_EDX | AMX_TILE_EDX;
    if ((xcr0 & XCR0_AMX) != XCR0_AMX || (d7 & amx) != amx || !may_use_tiles()) {
        return ISA_AVX512_BF16;
    }
    return ISA_AMX;
}
#else
enum isa_level isa_detect(void)
{
    return ISA_REF;
}
#endif

yoke_status isa_choose(enum isa_level *level_out)
{
    const enum isa_level host = isa_detect();
    const char *wanted = env_get("YOKE_ISA");
    if (!wanted) {
        *level_out = host;
        return YOKE_OK;
    }
    for (int level = 0; level < ISA_N_LEVELS; level++) {
        if (strcmp(wanted, level_names[level]) != 0) {
            continue;
        }
        if (level > (int)host) {
            return yoke_fail(YOKE_ERR_UNSUPPORTED,
                             "YOKE_ISA=%s: this host has at most %s; unset it or choose that", wanted,
                             level_names[host]);
        }
        *level_out = (enum isa_level)level;
        return YOKE_OK;
    }
    return yoke_fail(YOKE_ERR_CONFIG, "YOKE_ISA='%s': expected ref, avx2, avx512, avx512_bf16 or amx",
                     wanted);
}
