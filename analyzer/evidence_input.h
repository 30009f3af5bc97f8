/*
 * The part of the evidence that loaders, workers and files give.
 */
#ifndef STAGEPROF_ANALYZER_EVIDENCE_INPUT_H
#define STAGEPROF_ANALYZER_EVIDENCE_INPUT_H

#include "analyzer/evidence.h"

/* The steps' measures are there already. */
void sp_evidence_input(struct sp_evidence *evidence, const struct sp_report *report);

#endif
