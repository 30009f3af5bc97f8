/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that writes its file keeps the last events in memory (docs/FORMAT.md, "Arenas"). A
 * report elsewhere than on the machine, and in the IPC namespace, of such a thread that was killed
 * or still runs lacks them.
 */
#ifndef STAGEPROF_ANALYZER_TAILS_AWAY_H
#define STAGEPROF_ANALYZER_TAILS_AWAY_H

#include "analyzer/report/report.h"

/* The host of such threads, escaped; "" where they are of several hosts, or there are none. */
void sp_tails_away_host(const struct sp_report *report, char *ret, size_t bytes);

/* True where that host's name is this machine's:
 * the memory there was looked at, and had nothing. */
bool sp_tails_were_here(const struct sp_report *report);

#endif
