/* SPDX-License-Identifier: Apache-2.0 */
/* Training that the threads of a process take in turns, such as those of a server. */
#ifndef STAGEPROF_ANALYZER_METRICS_TURNS_H
#define STAGEPROF_ANALYZER_METRICS_TURNS_H

#include <stdint.h>

struct sp_report;

/* The time between the trainings of a process's threads in which none of them trains, of all
 * processes; 0 where a part of the run is asked for. *ret_threads: the most of a process. */
uint64_t sp_turns_apart_ns(const struct sp_report *report, uint32_t *ret_threads);

#endif
