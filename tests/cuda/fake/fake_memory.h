/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that the device reaches by itself: its own and pinned host memory. The rest is
 * pageable. Thread-safe.
 */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void fake_memory_add(void *start, size_t bytes); /* beyond 1,024 at a time: pageable */
void fake_memory_drop(void *start);
bool fake_memory_has(const void *address);

#endif
