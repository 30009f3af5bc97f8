/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of many cases alike, every SP_STRIDE-th: ThreadSanitizer looks at threads alone, which are the
 * same in each of them, and takes ten times as long.
 */
#ifndef STAGEPROF_TESTS_STRIDE_H
#define STAGEPROF_TESTS_STRIDE_H

#ifdef __SANITIZE_THREAD__
#define SP_STRIDE 32
#else
#define SP_STRIDE 1
#endif

#endif
