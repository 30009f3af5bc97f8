/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define SWITCH "switch\tbound\t"
#define LOADER "loader\tbound\t"
#define THREADS "torch-threads\tbound\t"
#define THREADS_SET "threads-set\tbound\t"
#define THREADS_ENVIRON "threads-environ\tbound\t"
#define PLACES_NAMED 2u
#define PLACE_BYTES 200u

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

/* The greatest number of these facts; 0: there is none. */
static double number_of(const struct sp_report *report, const char *begin)
{
	double most = 0;
	size_t bytes;

	for (uint32_t i = 0; i < report->run.metadata.coverage.names.count; i++) {
		const char *fact = fact_of(report, i, begin, &bytes);

		most = fmax(most, fact ? strtod(fact, NULL) : 0);
	}
	return most;
}

double sp_facts_switches(const struct sp_report *report)
{
	size_t bytes;
	double n = SP_SUM(double, i, report->run.metadata.coverage.names.count,
			  fact_of(report, i, SWITCH, &bytes) != NULL);

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

/* "0 /home/me/job/train.py:57" into "job/train.py:57"; false: another number. */
static bool place_of(const char *fact, size_t bytes, double wanted, char ret[PLACE_BYTES])
{
	const char *blank = memchr(fact, ' ', bytes);
	char number[16];
	size_t from;

	if (!blank || (size_t)(blank - fact) >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(blank - fact), fact);
	if (atof(number) != wanted)
		return false;
	bytes -= (size_t)(++blank - fact);
	from = sp_text_path_from(blank, bytes);
	sp_text_escape(ret, PLACE_BYTES, blank + from, bytes - from);
	return true;
}

/* The places with this number, and how many they are: those beyond PLACES_NAMED are not named. */
static unsigned places_of(const struct sp_report *report, const char *begin, double number,
			  char places[PLACES_NAMED + 1][PLACE_BYTES])
{
	unsigned count = 0;
	size_t bytes;

	for (uint32_t i = 0; i < report->run.metadata.coverage.names.count; i++) {
		const char *fact = fact_of(report, i, begin, &bytes);

		count += fact && count <= PLACES_NAMED &&
			 place_of(fact, bytes, number, places[count]);
	}
	return count;
}

const char *sp_facts_loader(const struct sp_report *report, double workers,
			    char text[SP_METRIC_TEXT_BYTES])
{
	char places[PLACES_NAMED + 1][PLACE_BYTES];
	unsigned count = places_of(report, LOADER, workers, places);

	*text = 0;
	if (count == 1)
		snprintf(text, SP_METRIC_TEXT_BYTES, _(" in DataLoader at %s"), places[0]);
	else if (count == 2)
		snprintf(text, SP_METRIC_TEXT_BYTES, _(" in DataLoader at %s or %s"), places[0],
			 places[1]);
	return text;
}

const char *sp_facts_threads_way(const struct sp_report *report, double threads, double wanted,
				 char text[SP_METRIC_TEXT_BYTES])
{
	char places[PLACES_NAMED + 1][PLACE_BYTES];
	unsigned count = places_of(report, THREADS_SET, threads, places);

	if (count == 1)
		snprintf(text, SP_METRIC_TEXT_BYTES, _("torch.set_num_threads(%.0f) at %s"), wanted,
			 places[0]);
	else if (count == 0 && number_of(report, THREADS_ENVIRON) == threads)
		snprintf(text, SP_METRIC_TEXT_BYTES, "OMP_NUM_THREADS=%.0f", wanted);
	else
		snprintf(text, SP_METRIC_TEXT_BYTES,
			 _("torch.set_num_threads(%.0f), or OMP_NUM_THREADS where nothing calls "
			   "it,"),
			 wanted);
	return text;
}

double sp_facts_threads(const struct sp_report *report)
{
	double most = number_of(report, THREADS);

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
