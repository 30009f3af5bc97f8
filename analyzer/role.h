/*
 * What a thread is there for. Names of threads are PyTorch's own (torch/utils/data/_utils, torch/csrc/autograd/
 * engine.cpp), from 2.5 on; before, a loader's worker is known by who started it, and the rest is "other".
 */
#ifndef STAGEPROF_ANALYZER_ROLE_H
#define STAGEPROF_ANALYZER_ROLE_H

#include <stdint.h>

struct sp_report;

/* "trainer", "worker", "pin_memory", "autograd" or "other". Wants report.wants_steps. */
const char *sp_role_of(const struct sp_report *report, uint32_t stream);

#endif
