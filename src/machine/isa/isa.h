/* Instruction-set levels of this host.
 *
 * Levels are ordered bundles. A level counts only when cpuid reports all its instructions and the
 * operating system saves its registers (XCR0; for AMX also the kernel's permission for tile data). */
#ifndef MACHINE_ISA_ISA_H
#define MACHINE_ISA_ISA_H

#include "base/core/status.h"

enum isa_level { ISA_REF, ISA_AVX2, ISA_AVX512, ISA_AVX512_BF16, ISA_AMX, ISA_N_LEVELS };

/* "ref", "avx2", "avx512", "avx512_bf16", "amx". */
const char *isa_level_name(enum isa_level level);

/* The highest level of this host. */
enum isa_level isa_detect(void);

/* The level to use: isa_detect() capped by the environment variable YOKE_ISA.
 * YOKE_ERR_CONFIG when its value is not a level's name, YOKE_ERR_UNSUPPORTED when the host lacks it. */
yoke_status isa_choose(enum isa_level *level_out) YOKE_MUST_USE;

#endif
