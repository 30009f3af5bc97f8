/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Half-open intervals of time, [start_ns, end_ns): the union of some, those that a later one
 * contains, and how much of them lies before an instant. One whose end is not later than its start
 * is empty. The lists are the caller's, and no function allocates.
 */
#ifndef STAGEPROF_ANALYZER_INTERVALS_H
#define STAGEPROF_ANALYZER_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

/* The length of an interval that may be empty. */
static inline uint64_t sp_interval_ns(int64_t start_ns, int64_t end_ns)
{
	return end_ns > start_ns ? (uint64_t)(end_ns - start_ns) : 0;
}

static inline uint64_t sp_least_ns(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* A length without a part of it; 0 where the part is longer. */
static inline uint64_t sp_rest_ns(uint64_t ns, uint64_t part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

/*
 * The union of intervals that come in the order of their starts, as far as it lies between from_ns
 * and to_ns; set these, and the rest is 0. An interval that begins before earlier ones counts from
 * their end on.
 */
struct sp_cover {
	int64_t from_ns; /* later: the end of what is counted */
	int64_t to_ns;
	uint64_t ns; /* the union's length so far */
};

/* Returns the part of the interval that no earlier one covered. */
static inline uint64_t sp_cover_add(struct sp_cover *c, int64_t start_ns, int64_t end_ns)
{
	int64_t from_ns = start_ns > c->from_ns ? start_ns : c->from_ns;
	int64_t to_ns = end_ns < c->to_ns ? end_ns : c->to_ns;
	uint64_t ns = sp_interval_ns(from_ns, to_ns);

	c->ns += ns;
	if (ns)
		c->from_ns = to_ns;
	return ns;
}

/* The elements of an array in the order of a time, which is a member of type int64_t: `first` is
 * the first element's, and the elements have `bytes` each. */

/* The index of the first element whose time is later than `ns`; `count` where there is none. */
uint32_t sp_upper_bound(const int64_t *first, size_t bytes, uint32_t count, int64_t ns);

/* The index of the first element whose time is `ns` or later, sought from the last one on: the work
 * grows with the logarithm of the elements after it, and is constant where there are few. */
uint32_t sp_nest_bound(const int64_t *first, size_t bytes, uint32_t count, int64_t ns);

/* These take an array, its length and the member's name. The array may be NULL where count is 0. */
#define SP_UPPER_BOUND(list, count, time, ns)                                                      \
	((count) ? sp_upper_bound(&(list)[0].time, sizeof((list)[0]), count, ns) : 0)

/* As sp_upper_bound(), of `ns` or later. ns is not INT64_MIN. */
#define SP_LOWER_BOUND(list, count, time, ns) SP_UPPER_BOUND(list, count, time, (ns)-1)

/*
 * Nesting, where intervals come in the order of their ends, so that an interval contains the last
 * of those before it that begin when it does or later. Returns the index of the first that it
 * contains; count: none. The caller replaces what is contained by the interval: then the starts in
 * the list stay in order, and the work for all of n intervals is of the order of n.
 */
#define SP_NEST_FIRST(list, count, start, ns)                                                      \
	((count) ? sp_nest_bound(&(list)[0].start, sizeof((list)[0]), count, ns) : 0)

/* One of a list of disjoint intervals in the order of time. */
struct sp_interval {
	int64_t start_ns, end_ns;
	uint64_t before_ns; /* the length of all before it */
};

/* The length of the parts that lie before an instant. */
uint64_t sp_intervals_before(const struct sp_interval *list, uint32_t count, int64_t at_ns);

#endif
