/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/report_output.h"

#include <errno.h>

#include "analyzer/cli/say.h"
#include "analyzer/text/translate.h"

int sp_report_output_open(struct sp_output_file *file, const struct sp_options *options)
{
	bool is_folder = options->needs & SP_IS_FOLDER;
	int r = is_folder ? sp_output_folder_open(file, options->output)
			  : sp_output_file_open(file, options->output, options->force);

	if (r == -EEXIST && !is_folder)
		sp_say_error(SP_REPORT_ERROR_exists, options->output, NULL);
	else if (r < 0)
		sp_say_error(SP_REPORT_ERROR_unwritable, options->output, sp_translate_errno(-r));
	return r;
}

int sp_report_output_keep(const struct sp_options *options, struct sp_output_file *file)
{
	int r = sp_output_file_keep(file);

	if (r == -EEXIST)
		sp_say_error(SP_REPORT_ERROR_came_meanwhile, options->output, NULL);
	else if (r < 0 && options->output)
		sp_say_error(SP_REPORT_ERROR_incomplete, options->output, NULL);
	else if (r < 0)
		sp_say_error(SP_REPORT_ERROR_cut_off, "stdout", NULL);
	return r < 0 ? 1 : 0;
}
