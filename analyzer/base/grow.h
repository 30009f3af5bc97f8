/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists that grow by one element at a time.
 */
#ifndef STAGEPROF_ANALYZER_GROW_H
#define STAGEPROF_ANALYZER_GROW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for one more element of `bytes` in a list of `count`; *room is the number of elements
 * that fit, and doubles. Returns the list, which may have moved, or NULL where there is no memory:
 * the old list is then still the caller's.
 */
void *sp_list_grow(void *list, uint32_t count, uint32_t *room, size_t bytes);

/* Adds an element of zeros, and returns it; NULL: no memory, and the list is as it was. */
#define SP_LIST_ADD(list, count, room) sp_list_add(&(list), &(count), &(room), sizeof(*(list)))
void *sp_list_add(void *list, uint32_t *count, uint32_t *room,
		  size_t bytes); /* `list`: its address */

#endif
