/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/page/drawing.h"

#include "analyzer/training/step_rows.h"
#include "analyzer/text/text.h"
#include "analyzer/training/training.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/training_account.h"

#define LABEL_X 10
#define CHARACTER_WIDTH 8.5 /* of the names in the bar, in pixels */
#define STRONG_WIDTH 11.5   /* of the shares */
#define MARGINS 50	    /* of the window, beside the bar */
#define POINTS_MAX 600u
#define TOP_PERCENT 4.0 /* the space above the highest point */
#define BANDS_MAX 200u

/* Each phase has a pattern, because colour must not be the only difference. */
static void draw_patterns(FILE *file)
{
	static const char *const strokes[] = {
		"M0 8L8 0",	"",
		"M0 0L8 8",	"M0 4H8",
		"M4 0V8",	"M0 8L8 0M0 0L8 8",
		"M2 2h2v2h-2z", "M0 4H8M4 0V8",
		"M0 2H8M0 6H8", "M2 0V8M6 0V8",
		"M4 4h1v1h-1z", "M0 4L4 0",
		"M4 8L8 4",	"M0 0L4 4",
		"M2 6h4",	"M6 2v4",
	};

	fputs("<defs>", file);
	for (size_t i = 0; i < sizeof(strokes) / sizeof(strokes[0]); i++)
		fprintf(file,
			"<pattern id=\"hatch-%zu\" width=\"8\" height=\"8\" "
			"patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" "
			"d=\"%s\"/></pattern>",
			i, strokes[i]);
	fputs("</defs>\n", file);
}

/* A text that its part has no room for would be cut: page.css shows it from a width of the window
 * on. */
static void draw_label(FILE *file, const char *text, const char *more, int y, double share,
		       double character_width)
{
	static const unsigned windows[] = {320, 390, 640, 900, 1240};
	double needs = (LABEL_X + character_width * (double)sp_text_width(text)) / share;

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		if (needs > windows[i] - MARGINS)
			continue;
		fprintf(file, "<text class=\"inside%s from-%u\" x=\"%d\" y=\"%d\">%s</text>", more,
			windows[i], LABEL_X, y, text);
		return;
	}
}

static void draw_part(FILE *file, int part, uint64_t ns, double at, double share)
{
	const char *title = sp_account_title((enum sp_account_phase)part);
	char time[SP_NUMBER_BYTES], percent[SP_NUMBER_BYTES];

	fprintf(file,
		"<svg class=\"part-%d\" x=\"%.4f%%\" width=\"%.4f%%\" height=\"56\"><title>%s: %s, "
		"%.1f%%</title><rect class=\"part\" width=\"100%%\" height=\"56\"/><rect "
		"fill=\"url(#hatch-%d)\" width=\"100%%\" height=\"56\"/>",
		part, at * 100, share * 100, title, sp_text_ns(time, ns), share * 100, part);
	snprintf(percent, sizeof(percent), "%.1f%%", share * 100);
	draw_label(file, title, "", 24, share, CHARACTER_WIDTH);
	draw_label(file, percent, " strong", 43, share, STRONG_WIDTH);
	fputs("</svg>\n", file);
}

void sp_draw_account(FILE *file, const struct sp_report *report)
{
	struct sp_account account = sp_training_account(&report->training);
	uint64_t total = sp_account_total(&account);
	double at = 0;

	if (total == 0)
		return;
	fprintf(file,
		"<svg class=\"account\" role=\"img\" width=\"100%%\" height=\"56\" "
		"aria-label=\"%s\">\n",
		_("Phases of the training threads' time; the table below has the numbers"));
	draw_patterns(file);
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++) {
		double share = (double)account.ns[part] / (double)total;

		if (account.ns[part])
			draw_part(file, part, account.ns[part], at, share);
		at += share;
	}
	fputs("</svg>\n", file);
}

struct frame {
	int64_t from_ns, to_ns;
	uint64_t top_ns;
};

static double x_of(const struct frame *f, int64_t ns)
{
	return 100.0 * (double)(ns - f->from_ns) / (double)(f->to_ns - f->from_ns);
}

static double y_of(const struct frame *f, uint64_t ns)
{
	return 100.0 - (100.0 - TOP_PERCENT) * (double)ns / (double)f->top_ns;
}

static void draw_bands(FILE *file, const struct frame *f, const struct sp_steps *steps)
{
	char name[64];
	uint32_t drawn = 0;

	for (uint32_t i = 0; i < steps->pause_count && drawn < BANDS_MAX; i++) {
		const struct sp_pause *p = &steps->pauses[i];

		if (!p->is_validation || p->end_ns <= f->from_ns || p->start_ns >= f->to_ns)
			continue;
		fprintf(file,
			"<rect class=\"validation\" x=\"%.3f%%\" width=\"%.3f%%\" "
			"height=\"100%%\"><title>%s</title></rect>\n",
			x_of(f, p->start_ns), x_of(f, p->end_ns) - x_of(f, p->start_ns),
			_("validation"));
		drawn++;
	}
	for (uint32_t i = 0; i < steps->epoch_count && i < BANDS_MAX; i++) {
		double x = x_of(f, steps->epochs[i].start_ns);

		x = i == 0 && x < 0 ? 0 : x; /* the first epoch begins before its first step */
		if (x < 0 || x >= 100)
			continue;
		snprintf(name, sizeof(name), _("epoch %u"), i);
		fprintf(file,
			"<line class=\"epoch\" x1=\"%.3f%%\" x2=\"%.3f%%\" y2=\"100%%\"/><text "
			"class=\"axis\" dx=\"4\" x=\"%.3f%%\" y=\"12\">%s</text>\n",
			x, x, x, name);
	}
}

static void draw_line(FILE *file, const struct frame *f, const struct sp_step_rows *rows)
{
	uint32_t epoch = UINT32_MAX;

	fputs("<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" width=\"100%\" "
	      "height=\"100%\"><path class=\"wall\" d=\"",
	      file);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct sp_step *step = sp_step_of_row(&rows->list[i]);

		fprintf(file, "%c%.2f %.2f", step->epoch == epoch ? 'L' : 'M',
			x_of(f, step->start_ns), y_of(f, sp_step_wall_ns(step)));
		epoch = step->epoch;
	}
	fputs("\"/></svg>\n", file);
}

static void draw_marks(FILE *file, const struct frame *f, const struct sp_step_rows *rows,
		       uint64_t slow_ns)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct sp_step *step = sp_step_of_row(&rows->list[i]);
		char time[SP_NUMBER_BYTES], name[96];

		if (sp_step_wall_ns(step) <= slow_ns)
			continue;
		snprintf(name, sizeof(name), _("step %u: %s"), rows->list[i].step,
			 sp_text_ns(time, sp_step_wall_ns(step)));
		fprintf(file,
			"<circle class=\"slow\" r=\"4\" cx=\"%.2f%%\" "
			"cy=\"%.2f%%\"><title>%s</title></circle>\n",
			x_of(f, step->start_ns), y_of(f, sp_step_wall_ns(step)), name);
	}
}

static void draw_scale(FILE *file, const struct frame *f, int64_t begin_ns)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], top[SP_NUMBER_BYTES];

	fputs("</svg><p class=\"scale\">", file);
	fprintf(file, _("from %s to %s after the run began; up to %s a step"),
		sp_text_ns(a, (uint64_t)(f->from_ns - begin_ns)),
		sp_text_ns(b, (uint64_t)(f->to_ns - begin_ns)), sp_text_ns(top, f->top_ns));
	fputs("</p>\n", file);
}

/* The trainer with the most steps. */
static void keep_one_trainer(struct sp_step_rows *rows, const struct sp_training *training)
{
	const struct sp_trainer *most = sp_training_main(training);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].trainer == most)
			rows->list[kept++] = rows->list[i];
	rows->count = kept;
}

int sp_draw_steps(FILE *file, const struct sp_report *report, uint64_t slow_ns)
{
	struct sp_step_rows rows;
	struct frame f = {.top_ns = 1};
	int r = sp_step_rows_gather(&rows, &report->training);

	if (r < 0)
		return r;
	keep_one_trainer(&rows, &report->training);
	sp_step_rows_thin(&rows, POINTS_MAX);
	for (uint32_t i = 0; i < rows.count; i++) {
		uint64_t ns = sp_step_wall_ns(sp_step_of_row(&rows.list[i]));

		f.top_ns = ns > f.top_ns ? ns : f.top_ns;
	}
	if (rows.count) {
		f.from_ns = sp_step_of_row(&rows.list[0])->start_ns;
		f.to_ns = sp_step_of_row(&rows.list[rows.count - 1])->end_ns;
		f.to_ns += f.to_ns <= f.from_ns;
		fprintf(file,
			"<svg class=\"steps\" role=\"img\" width=\"100%%\" height=\"200\" "
			"aria-label=\"%s\">\n",
			_("Time of each step over the run; the table below has the numbers"));
		draw_bands(file, &f, &rows.list[0].trainer->steps);
		draw_line(file, &f, &rows);
		draw_marks(file, &f, &rows, slow_ns);
		draw_scale(file, &f, report->run.begin_ns);
	}
	sp_step_rows_finish(&rows);
	return 0;
}
