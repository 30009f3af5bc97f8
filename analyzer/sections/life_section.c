/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/life_section.h"

#include <stdio.h>

#include "analyzer/sections/shown_part.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/life.h"

#define LIFE_BYTES 512u
#define PASSES_BYTES 128u
#define PASSES_LEAST 0.05  /* of the start-up */
#define SHOWN_LEAST 0.0005 /* of the life: less would be shown as 0.0% */

/* For programs: people read a line. */
static int life_table(struct sp_out *out, const struct sp_life *life)
{
	static const struct sp_column columns[] = {
		{"part", NULL, SP_CELL_TEXT},
		{"ns", NULL, SP_CELL_NS},
		{"share", NULL, SP_CELL_SHARE},
		{"loader_ns", NULL, SP_CELL_NS},
	};
	int r = sp_out_table(out, "life", NULL, columns, 4, false);

	for (int part = 0; r == 0 && life->total_ns && part < SP_LIFE_PARTS; part++) {
		const struct sp_cell cells[] = {
			sp_cell_text(sp_life_name((enum sp_life_part)part)),
			sp_cell_count(life->ns[part]),
			sp_cell_ratio(life->ns[part], life->total_ns),
			part == SP_LIFE_start_up && life->passes_ns ? sp_cell_count(life->passes_ns)
								    : sp_cell_null(),
		};

		r = sp_out_row(out, cells);
	}
	return r < 0 ? r : sp_out_table_end(out);
}

/* Taking batches ahead of the training, such as list(loader). "": there was none of note. */
static const char *passes_text(const struct sp_life *life, enum sp_life_part part,
			       char ret[PASSES_BYTES])
{
	char ns[SP_NUMBER_BYTES];

	*ret = '\0';
	if (part == SP_LIFE_start_up &&
	    (double)life->passes_ns >= PASSES_LEAST * (double)life->ns[part] && life->passes_ns)
		snprintf(ret, PASSES_BYTES, _(" (%s of it takes batches of a DataLoader)"),
			 sp_text_ns(ns, life->passes_ns));
	return ret;
}

int sp_life_section(const struct sp_report *report, struct sp_out *out, bool is_brief)
{
	struct sp_life life = sp_training_life(&report->training, &report->totals);
	char line[LIFE_BYTES], ns[SP_NUMBER_BYTES], share[SP_NUMBER_BYTES] = "";
	char count[SP_NUMBER_BYTES], passes[PASSES_BYTES];
	const char *between = "";
	size_t n;

	if (!sp_out_is_read(out))
		return life_table(out, &life);
	/* beside the account of a part of the run it would be taken for that part's */
	if (!life.total_ns || sp_selection_text(report, line, sizeof(line)))
		return 0;
	sp_text_ns(ns, life.total_ns);
	n = (size_t)(life.processes == 1
			     ? snprintf(line, sizeof(line), _("%s of the training process: "), ns)
			     : snprintf(line, sizeof(line), _("%s of %s training processes: "), ns,
					sp_text_count(count, life.processes)));
	for (int part = 0; part < SP_LIFE_PARTS && n < sizeof(line); part++) {
		if ((double)life.ns[part] < SHOWN_LEAST * (double)life.total_ns || !life.ns[part])
			continue;
		if (!is_brief)
			snprintf(share, sizeof(share), " (%.1f%%)",
				 100 * (double)life.ns[part] / (double)life.total_ns);
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s %s%s%s", between,
				      sp_life_title((enum sp_life_part)part),
				      sp_text_ns(ns, life.ns[part]), share,
				      passes_text(&life, (enum sp_life_part)part, passes));
		between = _(", ");
	}
	sp_out_wrapped(out, "life       ", line);
	return 0;
}
