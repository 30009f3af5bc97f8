/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of ranges: a text becomes a number that events carry as their arg. Each process image
 * defines a label once (SP_DEFINE_NAME). Lock-free, async-signal-safe, no allocation.
 */
#ifndef STAGEPROF_PRELOAD_INTERN_H
#define STAGEPROF_PRELOAD_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "preload/blocks/thread_slots.h"

/* Distinct labels of one process image. Every further label gets the number 0, "unknown". */
#define SP_INTERN_MAX 32768u

/* Texts longer than SP_NAME_BYTES_MAX are cut in the trace. Two texts that differ only after the
 * cut keep two numbers. */
uint32_t sp_intern(struct sp_thread *t, const char *text, size_t bytes);

/* Writes "GROUP\tbound|absent|unobservable|failed\tDETAIL" about this image into the run. */
void sp_coverage_add(const char *group, const char *state, const char *detail);

/* The state "bound" of a library; the detail is the file name without its folder. */
void sp_coverage_library(const char *group, const char *path);

/* Returns 1 once for each process image and each `reported`, which is static and zero at first: for
 * notes that an image makes once. Lock-free, async-signal-safe. */
int sp_coverage_is_new(uint64_t *reported);

#endif
