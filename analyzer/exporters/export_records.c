/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/export_records.h"

#include <errno.h>

struct export_progress {
	struct sp_export *export;
	int (*take)(void *context, const struct sp_record *record);
	void *context;
};

static int take(void *context, const struct sp_record *record)
{
	struct export_progress *reading = context;

	sp_progress_add(reading->export->progress, 1);
	if (ferror(reading->export->file))
		return -EIO;
	return reading->take(reading->context, record);
}

int sp_export_records(struct sp_export *export,
		      int (*take_record)(void *context, const struct sp_record *record),
		      void *context)
{
	struct export_progress reading = {export, take_record, context};

	return sp_records_read(export->report, take, &reading);
}
