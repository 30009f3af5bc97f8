/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job's cores, and the memory of processes that make batches. Runs of older versions have
 * neither, and get no line and no key.
 */
#ifndef STAGEPROF_ANALYZER_MACHINE_SECTION_H
#define STAGEPROF_ANALYZER_MACHINE_SECTION_H

#include "analyzer/metadata/memory_growth.h"
#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

void sp_machine_section(const struct sp_report *report, struct sp_out *out);

/* The word of JSON for how a process's memory grows; NULL: not known. */
const char *sp_machine_memory_kind(const struct sp_memory_growth *growth);

/* Writes "cpu" of the JSON document. */
void sp_machine_section_json(const struct sp_report *report, struct sp_out *out);

#endif
