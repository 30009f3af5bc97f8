/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/html/page_head.h"

#include <string.h>
#include <time.h>

#include "analyzer/page/page_assets.h"
#include "analyzer/sections/ending.h"
#include "analyzer/sections/shown_part.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/verdict/verdict_text.h"

#define PAGE_LANGUAGE_BYTES 16u
#define HOST_BYTES 1024u /* escaped */
#define HOSTS_MAX 4u

/* The language as HTML names it: "zh-CN". */
static void page_language(char ret[PAGE_LANGUAGE_BYTES])
{
	snprintf(ret, PAGE_LANGUAGE_BYTES, "%s", sp_translate_code());
	for (char *p = ret; *p; p++)
		if (*p == '_')
			*p = '-';
}

static void name_run(struct sp_page_head *head, const struct sp_view_options *options)
{
	const char *path = options->run_count ? options->run_names[0] : "";
	size_t bytes = strlen(path);
	const char *name;

	while (bytes && path[bytes - 1] == '/')
		bytes--;
	name = memrchr(path, '/', bytes);
	name = name ? name + 1 : path;
	sp_text_escape(head->name, sizeof(head->name), name, (size_t)(path + bytes - name));
}

/* The command of the trainer, else of the first process that has one. */
static void name_command(struct sp_page_head *head, const struct sp_report *report)
{
	const struct sp_trainer *trainer = sp_training_main(&report->training);
	uint32_t image = trainer ? report->run.index.streams[trainer->stream]->image : 0;
	const struct sp_process_metadata *found = NULL;
	char text[sizeof(head->command)] = "";
	size_t bytes;

	for (uint32_t i = 0; i < report->run.index.image_count; i++) {
		const struct sp_process_metadata *m = &report->run.metadata.images[i];

		if (m->command && (!found || (trainer && i == image)))
			found = m;
	}
	if (!found)
		return;
	bytes = found->command_bytes < sizeof(text) ? found->command_bytes : sizeof(text);
	for (size_t i = 0; i < bytes; i++)
		text[i] = found->command[i] ? found->command[i] : ' ';
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	sp_text_escape(head->command, sizeof(head->command), text, bytes);
}

void sp_page_head_make(struct sp_page_head *head, const struct sp_report *report,
		       const struct sp_view_options *options)
{
	*head = (struct sp_page_head){.name = ""};
	name_run(head, options);
	name_command(head, report);
}

void sp_page_head_put(FILE *f, const struct sp_page_head *head, const struct sp_verdict *verdict)
{
	char language[PAGE_LANGUAGE_BYTES], brief[SP_VERDICT_TEXT_BYTES];

	page_language(language);
	sp_verdict_brief(verdict, brief, sizeof(brief));
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
		language, sp_page_policy);
	sp_html_plain(f, brief);
	fputs(" \342\200\223 ", f);
	sp_html_plain(f, *head->name ? head->name : _("stageprof report"));
	fprintf(f, "</title>\n<style>%s</style></head>\n<body>\n", sp_page_style);
}

static void put_hosts(FILE *f, const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	char name[HOST_BYTES];

	for (uint32_t i = 0; i < index->host_count && i < HOSTS_MAX; i++) {
		const struct sp_host *h = &index->hosts[i];

		sp_text_escape(name, sizeof(name), h->name, strnlen(h->name, sizeof(h->name)));
		fputs(i ? ", " : " \302\267 ", f);
		sp_html_plain(f, name);
	}
	if (index->host_count > HOSTS_MAX)
		fputs(", \342\200\246", f);
}

/* How the run ended, and what of it the page shows. */
static void put_part(FILE *f, const struct sp_report *report)
{
	char text[SP_VERDICT_TEXT_BYTES];

	sp_ending_text(report, text, sizeof(text));
	if (*text) {
		fprintf(f, "<br>%s", _("ended      "));
		sp_html_plain(f, text);
	}
	if (sp_selection_text(report, text, sizeof(text))) {
		fprintf(f, "<br><strong>%s", _("only       "));
		sp_html_plain(f, text);
		fputs("</strong>", f);
	}
	if (sp_off_text(report, text, sizeof(text))) {
		fputs("<br>", f);
		sp_html_plain(f, text);
	}
}

void sp_page_top_put(FILE *f, const struct sp_report *report, const struct sp_page_head *head)
{
	time_t begin = (time_t)(report->run.begin_ns / 1000000000);
	char when[64] = "";
	struct tm tm;

	if (gmtime_r(&begin, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fputs("<header><h1>", f);
	sp_html_plain(f, *head->name ? head->name : _("Where the training time went"));
	fputs("</h1><p class=\"when\">", f);
	if (*head->command) {
		fputs("<code>", f);
		sp_html_plain(f, head->command);
		fputs("</code> ", f);
	}
	fprintf(f, _("A run that began %s"), when);
	put_hosts(f, report);
	put_part(f, report);
	fputs("</p></header>\n", f);
}
