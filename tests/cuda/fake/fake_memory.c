/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_memory.h"

#include <pthread.h>
#include <stdint.h>

enum { ROOM = 1024 };

static struct {
	uintptr_t start;
	size_t bytes;
} list[ROOM];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_memory_add(void *start, size_t bytes)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < ROOM; i++) {
		if (!list[i].start) {
			list[i].start = (uintptr_t)start;
			list[i].bytes = bytes;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

void fake_memory_drop(void *start)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < ROOM; i++)
		if (list[i].start == (uintptr_t)start)
			list[i].start = 0;
	pthread_mutex_unlock(&lock);
}

bool fake_memory_has(const void *address)
{
	uintptr_t at = (uintptr_t)address;
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ROOM; i++)
		found |= list[i].start && at >= list[i].start && at - list[i].start < list[i].bytes;
	pthread_mutex_unlock(&lock);
	return found;
}
