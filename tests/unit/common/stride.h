/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests with many similar cases run every SP_STRIDE-th of them under a sanitizer. ThreadSanitizer
 * checks only threads, which are the same in each case, and takes ten times as long;
 * AddressSanitizer takes three times as long.
 */
#ifndef STAGEPROF_TESTS_STRIDE_H
#define STAGEPROF_TESTS_STRIDE_H

#ifdef __SANITIZE_THREAD__
#define SP_STRIDE 32
#elif defined(__SANITIZE_ADDRESS__)
#define SP_STRIDE 4
#else
#define SP_STRIDE 1
#endif

#endif
