/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts that PyTorch gives of itself: switches that slow it, its threads and what set them, and the
 * lines that made loaders; and the growth of the memory of workers. NAN and NULL where the run does
 * not have it.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_FACTS_H
#define STAGEPROF_ANALYZER_METRICS_FACTS_H

#include "analyzer/metrics/metric_sums.h"

/* The number of switches, and "name, name". */
double sp_facts_switches(const struct sp_report *report);
const char *sp_facts_switches_text(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES]);

/* " in DataLoader at job/train.py:57": the program's lines that made a loader with so many workers,
 * where they are not more than two; else "". */
const char *sp_facts_loader(const struct sp_report *report, double workers,
			    char text[SP_METRIC_TEXT_BYTES]);

/* Threads with which an operator computes, the most of any process. */
double sp_facts_threads(const struct sp_report *report);

/* The setting for as many as are wanted in place of `threads`: "torch.set_num_threads(4) at
 * job/train.py:9", where one line of the program set them; else "OMP_NUM_THREADS=4", where that is
 * set; else both. */
const char *sp_facts_threads_way(const struct sp_report *report, double threads, double wanted,
				 char text[SP_METRIC_TEXT_BYTES]);

/* Workers that grow: bytes with each batch, the most of any; the time until what is left of the
 * limit is used up, from the last report on, where they can grow so far: of the host that comes to
 * it first. */
struct sp_growth {
	double bytes, left_ns, limit_bytes;
};

/* is_copied: by pages of their parent that they write; else by what they hold. */
struct sp_growth sp_facts_growth(const struct sp_report *report, bool is_copied);

#endif
