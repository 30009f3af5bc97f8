/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account's input wait as the sum of the verdict's and of what the verdict leaves out.
 */
#ifndef STAGEPROF_ANALYZER_WAIT_SECTION_H
#define STAGEPROF_ANALYZER_WAIT_SECTION_H

#include "analyzer/print/out.h"
#include "analyzer/metrics/metrics.h"

/* Returns false where both are the same, or differ by less than this share. */
bool sp_wait_text(const struct sp_metrics *metrics, double least, char *ret, size_t bytes);

/* Writes the sum as a line; nothing where both are the same. */
void sp_wait_section(const struct sp_metrics *metrics, struct sp_out *out);

#endif
