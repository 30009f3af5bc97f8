/*
 * What the processor can, as glibc's loader found it when the program began. Asking the processor (CPUID) takes 14 µs
 * each time where a hypervisor answers.
 */
#ifndef STAGEPROF_PRELOAD_PROCESSOR_H
#define STAGEPROF_PRELOAD_PROCESSOR_H

/* AVX2, BMI, BMI2 and LZCNT, and a kernel that keeps their registers. Constructor; 0 also where glibc is older than 2.33,
 * which does not tell. */
int sp_processor_has_avx2(void);

#endif
