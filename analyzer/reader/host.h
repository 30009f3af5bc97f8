/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that a process ran on.
 */
#ifndef STAGEPROF_ANALYZER_HOST_H
#define STAGEPROF_ANALYZER_HOST_H

#include "analyzer/reader/index.h"

/* True where the host's name, as file headers write it, is that of this machine. */
bool sp_host_is_this(const struct sp_host *host);

#endif
