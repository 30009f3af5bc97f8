#include "analyzer/view.h"

int sp_view_dump(const struct sp_report *report, struct sp_out *out, const struct sp_view_options *options)
{
	(void)report, (void)out, (void)options;
	return 0;
}
