/*
 * GitHub's Markdown. What the caller has made printable (text.h) is made to mean nothing else: no link, no
 * emphasis, no HTML, no end of a cell.
 */
#ifndef STAGEPROF_ANALYZER_MD_H
#define STAGEPROF_ANALYZER_MD_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/out.h"

void sp_md_head(struct sp_md *md, const char *title, const struct sp_column *columns, size_t n);

/* Returns 0 or -ENOMEM. */
int sp_md_row(struct sp_md *md, const struct sp_column *columns, size_t n, const struct sp_cell *cells);

/* Neighbouring lines are one block, as it stands; its blanks and characters mean what they show. */
void sp_md_line(struct sp_md *md, const char *line);

#endif
