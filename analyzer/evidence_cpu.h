/*
 * The part of the evidence that the kernel's own counts of cores and their use give.
 */
#ifndef STAGEPROF_ANALYZER_EVIDENCE_CPU_H
#define STAGEPROF_ANALYZER_EVIDENCE_CPU_H

#include "analyzer/evidence.h"

void sp_evidence_cpu(struct sp_evidence *evidence, const struct sp_report *report);

#endif
