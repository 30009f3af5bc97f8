/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/progress.h"

#include <time.h>

#define BAR_COLUMNS 40u
#define LOOK_EVERY 4096u
#define DRAW_EVERY_NS 100000000

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void sp_progress_begin(struct sp_progress *p, FILE *file, uint64_t total)
{
	*p = (struct sp_progress){.file = file,
				  .total = total,
				  .drawn_ns = now_ns(),
				  .owner = pthread_self()};
	p->next = file && total ? LOOK_EVERY : UINT64_MAX;
}

void sp_progress_draw(struct sp_progress *p)
{
	static const char full[] = "########################################";
	static const char rest[] = "........................................";
	uint64_t counted = __atomic_load_n(&p->done, __ATOMIC_RELAXED);
	uint64_t done = counted < p->total ? counted : p->total;
	int64_t now = now_ns();
	unsigned columns = (unsigned)((unsigned __int128)done * BAR_COLUMNS / p->total);

	p->next = counted + LOOK_EVERY;
	if (now - p->drawn_ns < DRAW_EVERY_NS)
		return;
	p->drawn_ns = now;
	fprintf(p->file, "\r%.*s%.*s %3u%%", (int)columns, full, (int)(BAR_COLUMNS - columns), rest,
		(unsigned)((unsigned __int128)done * 100 / p->total));
	fflush(p->file);
}

void sp_progress_end(struct sp_progress *p)
{
	if (p->file && p->next != UINT64_MAX && p->next > LOOK_EVERY)
		fputs("\r\033[K", p->file);
	p->next = UINT64_MAX;
}
