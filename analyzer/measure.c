#include <stdio.h>
#include <string.h>

#include "analyzer/evidence.h"
#include "analyzer/text.h"
#include "analyzer/translate.h"

static const struct {
	const char *name, *title, *row;
	enum sp_measure_kind unit;
} measures[SP_MEASURES] = {
#define SP_MEASURE(name, unit, title, row) {#name, title, row, SP_IN_##unit},
#include "analyzer/measure.def"
#undef SP_MEASURE
};

const char *sp_measure_name(enum sp_measure_id measure)
{
	return measures[measure].name;
}

const char *sp_measure_title(enum sp_measure_id measure)
{
	return _(measures[measure].title);
}

const char *sp_measure_row(enum sp_measure_id measure)
{
	return measures[measure].row;
}

enum sp_measure_kind sp_measure_kind(enum sp_measure_id measure)
{
	return measures[measure].unit;
}

enum sp_measure_id sp_measure_find(const char *name, size_t bytes)
{
	int i = 0;

	while (i < SP_MEASURES &&
	       (strlen(measures[i].name) != bytes || memcmp(measures[i].name, name, bytes) != 0))
		i++;
	return (enum sp_measure_id)i;
}

void sp_measure_text(const struct sp_evidence *e, enum sp_measure_id measure, char *ret,
		     size_t ret_bytes)
{
	const struct sp_measure *m = &e->of[measure];
	char number[SP_NUMBER_BYTES];
	const char *text = _("not known");

	if (m->is_known) {
		text = number;
		switch (measures[measure].unit) {
		case SP_IN_SHARE:
			snprintf(number, sizeof(number), "%.1f %%", 100 * m->value);
			break;
		case SP_IN_RATIO:
			snprintf(number, sizeof(number), "%.1f", m->value);
			break;
		case SP_IN_NS:
			sp_text_ns(number, (uint64_t)m->value);
			break;
		case SP_IN_COUNT:
			sp_text_count(number, (uint64_t)(m->value + 0.5));
			break;
		case SP_IN_BYTES:
			sp_text_bytes(number, (uint64_t)m->value);
			break;
		case SP_IN_TEXT:
			text = m->text;
			break;
		}
	}
	snprintf(ret, ret_bytes, "%s", text);
}
