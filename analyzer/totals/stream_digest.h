/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of one thread as bytes of a digest.
 */
#ifndef STAGEPROF_ANALYZER_STREAM_DIGEST_H
#define STAGEPROF_ANALYZER_STREAM_DIGEST_H

#include "analyzer/reader/digest_fields.h"
#include "analyzer/totals/aggregate.h"

/* Fields of the sums, and of the histograms of the thread's stages (SP_STAGES of them). */
void sp_stream_digest_fields(struct sp_digest_fields *f, struct sp_stream_sums *sums,
			     struct sp_hist *hists);

/* Fields of one file's sums. */
void sp_file_digest_fields(struct sp_digest_fields *f, struct sp_file_sums *sums);

#endif
