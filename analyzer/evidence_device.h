/*
 * The part of the evidence that calls of CUDA and the device's own time give.
 */
#ifndef STAGEPROF_ANALYZER_EVIDENCE_DEVICE_H
#define STAGEPROF_ANALYZER_EVIDENCE_DEVICE_H

#include "analyzer/account.h"
#include "analyzer/evidence.h"

/* The account and number of all trainers' steps, at least one; the loader's wait is known, if it ever is. Returns 0 or
 * -ENOMEM. */
int sp_evidence_device(struct sp_evidence *evidence, const struct sp_account *account, uint64_t steps,
		       const struct sp_report *report);

#endif
