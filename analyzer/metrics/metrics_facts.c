/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define SWITCH "switch\tbound\t"
#define LOADER "loader\tbound\t"
#define LOADERS_NAMED 2u
#define LOADER_BYTES 200u
#define THREADS "torch-threads\tbound\t"

/* The rest of the i-th line of coverage after its beginning; NULL: it begins in another way. */
static const char *fact_of(const struct sp_report *report, uint32_t i, const char *begin,
			   size_t *ret_bytes)
{
	size_t bytes, skipped = strlen(begin);
	const char *line = sp_string_table_text(&report->run.metadata.coverage.names, i, &bytes);

	if (bytes <= skipped || memcmp(line, begin, skipped) != 0)
		return NULL;
	*ret_bytes = bytes - skipped;
	return line + skipped;
}

double sp_facts_switches(const struct sp_report *report)
{
	double n = 0;
	size_t bytes;

	for (uint32_t i = 0; i < report->run.metadata.coverage.names.count; i++)
		n += fact_of(report, i, SWITCH, &bytes) != NULL;
	return IF(n > 0, n);
}

const char *sp_facts_switches_text(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES])
{
	size_t used = 0, bytes;

	for (uint32_t i = 0; i < report->run.metadata.coverage.names.count; i++) {
		const char *fact = fact_of(report, i, SWITCH, &bytes);

		if (!fact || used + 3 >= SP_METRIC_TEXT_BYTES)
			continue;
		if (used)
			used += (size_t)snprintf(text + used, SP_METRIC_TEXT_BYTES - used, ", ");
		used += sp_text_escape(text + used, SP_METRIC_TEXT_BYTES - used, fact, bytes);
	}
	return used ? text : NULL;
}

/* "0 /home/me/job/train.py:57" into "job/train.py:57"; false: another number of workers. */
static bool loader_place(const char *fact, size_t bytes, double workers, char ret[LOADER_BYTES])
{
	const char *blank = memchr(fact, ' ', bytes);
	char number[16];
	size_t from;

	if (!blank || (size_t)(blank - fact) >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(blank - fact), fact);
	if (atof(number) != workers)
		return false;
	bytes -= (size_t)(++blank - fact);
	from = sp_text_path_from(blank, bytes);
	sp_text_escape(ret, LOADER_BYTES, blank + from, bytes - from);
	return true;
}

const char *sp_facts_loader(const struct sp_report *report, double workers,
			    char text[SP_METRIC_TEXT_BYTES])
{
	char places[LOADERS_NAMED][LOADER_BYTES], place[LOADER_BYTES];
	unsigned count = 0;
	size_t bytes;

	for (uint32_t i = 0; i < report->run.metadata.coverage.names.count; i++) {
		const char *fact = fact_of(report, i, LOADER, &bytes);

		if (!fact || !loader_place(fact, bytes, workers, place))
			continue;
		if (count == LOADERS_NAMED)
			return "";
		strcpy(places[count++], place);
	}
	if (count == 1)
		snprintf(text, SP_METRIC_TEXT_BYTES, _(" in DataLoader at %s"), places[0]);
	else if (count == 2)
		snprintf(text, SP_METRIC_TEXT_BYTES, _(" in DataLoader at %s or %s"), places[0],
			 places[1]);
	return count ? text : "";
}

double sp_facts_threads(const struct sp_report *report)
{
	double most = 0;
	size_t bytes;

	for (uint32_t i = 0; i < report->run.metadata.coverage.names.count; i++) {
		const char *fact = fact_of(report, i, THREADS, &bytes);

		if (fact)
			most = fmax(most, strtod(fact, NULL));
	}
	return IF(most >= 1, most);
}

static double seconds_of(const struct sp_report *report, uint32_t image)
{
	const struct sp_memory_growth *g = &report->run.metadata.images[image].memory;
	const struct sp_clock *clock =
		&report->run.index.hosts[report->run.index.images[image].host].clock;

	return g->last.at > g->first.at
		       ? (double)sp_clock_span_ns(clock->ns_per_tick, g->last.at - g->first.at) /
				 1e9
		       : 0;
}

static double room_of(const struct sp_memory_metadata *last, bool is_copied)
{
	return is_copied ? (double)last->resident_bytes - (double)last->private_dirty_bytes
			 : INFINITY;
}

/* The growth on one host, whose images begin at *at. Moves *at past them. */
static struct sp_growth growth_of_host(const struct sp_report *report, bool is_copied, uint32_t *at)
{
	const struct sp_index *index = &report->run.index;
	enum sp_memory_kind kind = is_copied ? SP_MEMORY_COPY_ON_WRITE : SP_MEMORY_LEAK;
	double bytes = 0, rate = 0, room = 0, left = INFINITY, limit = 0;
	uint32_t host = index->images[*at].host;
	bool is_filling;

	for (; *at < index->image_count && index->images[*at].host == host; ++*at) {
		const struct sp_memory_growth *g = &report->run.metadata.images[*at].memory;
		double seconds = seconds_of(report, *at);

		if (sp_memory_growth_kind(g) != kind || seconds <= 0 ||
		    g->last.left_bytes == UINT64_MAX)
			continue;
		bytes = fmax(bytes, sp_memory_growth_a_batch(g));
		rate += ((double)g->last.private_dirty_bytes -
			 (double)g->first.private_dirty_bytes) /
			seconds;
		room += room_of(&g->last, is_copied);
		left = fmin(left, (double)g->last.left_bytes);
		limit = (double)g->last.limit_bytes;
	}
	is_filling = rate > 0 && room >= left;
	return (struct sp_growth){IF(bytes > 0, bytes), IF(is_filling, left / rate * 1e9),
				  IF(is_filling, limit)};
}

struct sp_growth sp_facts_growth(const struct sp_report *report, bool is_copied)
{
	struct sp_growth soonest = {NAN, NAN, NAN};

	for (uint32_t at = 0; at < report->run.index.image_count;) {
		struct sp_growth of_host = growth_of_host(report, is_copied, &at);

		soonest.bytes = fmax(soonest.bytes, of_host.bytes);
		if (isnan(soonest.left_ns) || of_host.left_ns < soonest.left_ns) {
			soonest.left_ns = of_host.left_ns;
			soonest.limit_bytes = of_host.limit_bytes;
		}
	}
	return soonest;
}
