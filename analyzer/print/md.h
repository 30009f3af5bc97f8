/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of GitHub's Markdown. The caller has made the text printable (text.h); here it is
 * escaped, so that it makes no link, no emphasis, no HTML and no end of a cell.
 */
#ifndef STAGEPROF_ANALYZER_MD_H
#define STAGEPROF_ANALYZER_MD_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/print/cell.h"

struct sp_md {
	FILE *file;
	bool in_lines; /* a block of lines is open */
};

void sp_md_head(struct sp_md *md, const char *title, const struct sp_column *columns, size_t n);

/* Returns 0 or -ENOMEM. */
int sp_md_row(struct sp_md *md, const struct sp_column *columns, size_t n,
	      const struct sp_cell *cells);

/* Adjacent lines form one preformatted block, in which blanks and characters keep their meaning. */
void sp_md_line(struct sp_md *md, const char *line);

#endif
