/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole analyzer on bytes: index, facts, sums, every view in every format, every exporter.
 */
#ifndef STAGEPROF_TESTS_FUZZ_WHOLE_H
#define STAGEPROF_TESTS_FUZZ_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* Aborts where the analyzer gives up on them: it may find nothing in a trace, but not fail. */
void sp_fuzz_whole(const uint8_t *trace, size_t bytes);

#endif
