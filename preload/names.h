/*
 * Labels of ranges: a text becomes a number that events carry as their arg, defined once in each
 * process image (SP_DEFINE_NAME). Lock-free, async-signal-safe, allocates nothing.
 */
#ifndef STAGEPROF_PRELOAD_NAMES_H
#define STAGEPROF_PRELOAD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "preload/record.h"

/* Distinct labels of one image; what comes after them has number 0, "unknown". */
#define SP_NAMES_MAX 32768u

/* Texts beyond SP_NAME_BYTES_MAX are cut; two that differ only there stay two names. */
uint32_t sp_name_of(struct sp_thread *t, const char *text, size_t bytes);

/* Writes "GROUP\tbound|absent|unobservable|failed\tDETAIL" about this image into the run. */
void sp_cover(const char *group, const char *state, const char *detail);

/* The same of a library that is bound; its folder is left out. */
void sp_cover_library(const char *group, const char *path);

/* 1 the first time in this image, for what is to be told once of it: `told`, static and 0 at first, is kept by
 * this. Lock-free, async-signal-safe. */
int sp_cover_is_new(uint64_t *told);

#endif
