/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/native_leaf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/sys/clock.h"

#define PERIOD_NS 100000u /* of the thread on a processor */
#define LATE_NS 20000000u /* it may wait for one, or be in the kernel, meanwhile */
#define RING_PAGES 2u	  /* one for the counters, one for a few records */

struct record {
	struct perf_event_header header;
	uint64_t address, at_ns;
};

static int open_event(pid_t tid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_leaf(struct sp_native_leaf *leaf, pid_t tid)
{
	void *ring;

	leaf->fd = open_event(tid);
	if (leaf->fd < 0)
		return -errno;
	ring = mmap(NULL, RING_PAGES * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, leaf->fd, 0);
	if (ring == MAP_FAILED) {
		int error = errno;

		close(leaf->fd);
		return -error;
	}
	leaf->ring = ring;
	return 0;
}

int sp_native_leaf_arm(struct sp_native_leaf *leaf, pid_t tid)
{
	if (leaf->is_refused)
		return -EACCES;
	if (!leaf->ring) {
		int r = open_leaf(leaf, tid);

		leaf->is_refused = r < 0 && r != -ESRCH; /* the thread has ended */
		if (r < 0)
			return r;
	}
	leaf->armed_ns = sp_clock_ns(CLOCK_MONOTONIC);
	/* One that was not used stays: a second one would make two interrupts. */
	if (!leaf->is_armed && ioctl(leaf->fd, PERF_EVENT_IOC_REFRESH, 1) < 0)
		return -errno;
	leaf->is_armed = true;
	return 0;
}

/* Copies bytes of the ring, which may go round its end. */
static void copy_out(const struct sp_native_leaf *leaf, uint64_t at, void *ret, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uint8_t *data = (const uint8_t *)leaf->ring + page;

	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)ret)[i] = data[(at + i) % page];
}

uint64_t sp_native_leaf_take(struct sp_native_leaf *leaf)
{
	struct perf_event_mmap_page *head = leaf->ring;
	uint64_t end, found = 0;

	if (!head || !leaf->is_armed)
		return 0;
	end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
	for (uint64_t at = head->data_tail; at < end;) {
		struct record record;

		memset(&record, 0, sizeof(record));
		copy_out(leaf, at, &record.header, sizeof(record.header));
		if (record.header.size < sizeof(record.header))
			break;
		if (record.header.type == PERF_RECORD_SAMPLE &&
		    record.header.size >= sizeof(record)) {
			copy_out(leaf, at, &record, sizeof(record));
			leaf->is_armed = false;
			if (record.at_ns >= leaf->armed_ns &&
			    record.at_ns - leaf->armed_ns <= LATE_NS)
				found = record.address;
		}
		at += record.header.size;
	}
	__atomic_store_n(&head->data_tail, end, __ATOMIC_RELEASE);
	return found;
}

void sp_native_leaf_close(struct sp_native_leaf *leaf)
{
	if (!leaf->ring)
		return;
	munmap(leaf->ring, RING_PAGES * (size_t)sysconf(_SC_PAGESIZE));
	close(leaf->fd);
	leaf->ring = NULL;
}
