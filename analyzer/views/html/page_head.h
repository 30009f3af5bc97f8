/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of the page: the document's head, and what identifies the run.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_HEAD_H
#define STAGEPROF_ANALYZER_PAGE_HEAD_H

#include <stdio.h>

#include "analyzer/verdict/verdict.h"
#include "analyzer/views/view.h"

/* Both texts are escaped, and "" where they are not known. */
struct sp_page_head {
	char name[512];	    /* of the run's folder */
	char command[1024]; /* of the trainer */
};

void sp_page_head_make(struct sp_page_head *head, const struct sp_report *report,
		       const struct sp_view_options *options);

/* Writes the document up to the beginning of its body. */
void sp_page_head_put(FILE *f, const struct sp_page_head *head, const struct sp_verdict *verdict);

/* Writes the first lines that a reader sees. */
void sp_page_top_put(FILE *f, const struct sp_report *report, const struct sp_page_head *head);

#endif
