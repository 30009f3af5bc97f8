/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of the processor, as glibc's loader found them when the program began. A CPUID
 * instruction takes 14 µs under a hypervisor.
 */
#ifndef STAGEPROF_PRELOAD_PROCESSOR_H
#define STAGEPROF_PRELOAD_PROCESSOR_H

/* Returns 1 if the processor has AVX2, BMI, BMI2 and LZCNT and the kernel saves their registers.
 * Constructor. 0 also with glibc older than 2.33, which does not report features. */
int sp_processor_has_avx2(void);

/* Returns 1 if the cycle counter runs at one rate in all power states, 0 if it does not, -1 where
 * glibc does not report it. Constructor. */
int sp_processor_counter_is_invariant(void);

#endif
