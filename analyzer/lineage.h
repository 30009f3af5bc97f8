/*
 * Which trainer a process works for: the one that started it, itself or by way of a fork server, which is
 * multiprocessing's third way to start a DataLoader's workers and Python 3.14's first.
 */
#ifndef STAGEPROF_ANALYZER_LINEAGE_H
#define STAGEPROF_ANALYZER_LINEAGE_H

#include <stdint.h>

struct sp_report;

/* The image of a trainer. */
uint32_t sp_trainer_image(const struct sp_report *report, uint32_t trainer);

/* The trainer of the image, or else the nearest that started it; training.count: none. */
uint32_t sp_trainer_above(const struct sp_report *report, uint32_t image);

#endif
