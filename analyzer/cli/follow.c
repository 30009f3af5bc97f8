/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/follow.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/reader/host.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

#define COST_FACTOR 9u /* ratio of pause to work: a tenth of a core */
/* An invisible process may run in another container, so it counts as ended only after silence. */
#define GONE_QUIET_NS UINT64_C(10000000000)
#define TERMINAL_ROWS 24u

#define ENTER_SCREEN "\033[?1049h\033[?7l" /* the alternate screen; lines are cut, not wrapped */
#define LEAVE_SCREEN "\033[?7h\033[?1049l"

static volatile sig_atomic_t signals;
static volatile sig_atomic_t on_screen;

/* A second signal ends the program at once, and leaves the terminal as it was. */
static void interrupted(int signal_number)
{
	if (signals++ == 0)
		return;
	if (on_screen && write(STDOUT_FILENO, LEAVE_SCREEN, sizeof(LEAVE_SCREEN) - 1) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = interrupted};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_gone(const struct sp_index *index, const struct sp_process_image *image)
{
	return sp_host_is_this(&index->hosts[image->host]) && image->pid &&
	       image->pid <= INT32_MAX && kill((pid_t)image->pid, 0) < 0 && errno == ESRCH;
}

/*
 * A process ends with its main thread, in any state of the other threads. The end of any of its
 * images counts, because destructors of libraries may begin another image that nothing ends.
 */
static bool main_has_ended(const struct sp_index *index, uint32_t image)
{
	for (uint32_t i = 0; i < index->stream_count; i++) {
		const struct sp_stream *s = index->streams[i];

		if (s->image == image && s->tid == index->images[image].pid && s->has_last)
			return true;
	}
	return false;
}

struct sp_follow_state sp_follow_state_of(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	struct sp_follow_state state = {
		.events = report->totals.events + report->totals.lost,
		.end_ns = report->totals.end_ns,
		.has_ended = report->totals.threads != 0,
		.is_gone = report->totals.threads != 0,
	};

	for (uint32_t i = 0; i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;

		if (!sp_run_selects(&report->run, i) || index->streams[i]->has_last ||
		    main_has_ended(index, image))
			continue;
		state.has_ended = false;
		state.is_gone &= is_gone(index, &index->images[image]);
	}
	return state;
}

/* The start of the silence; 0: new events came just now. */
struct silence {
	uint64_t events, since_ns;
};

/* True where the run ended an interval ago or earlier: a second report would be the first again. */
static bool was_over(const struct sp_follow *f, const struct sp_follow_state *state)
{
	int64_t now = (int64_t)now_ns(CLOCK_REALTIME);

	return state->has_ended && state->end_ns <= now &&
	       (uint64_t)(now - state->end_ns) >= f->interval_ns;
}

static bool is_over(const struct sp_follow *f, struct silence *silence,
		    const struct sp_follow_state *state)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	bool is_first = !silence->since_ns;

	if (is_first || silence->events != state->events) {
		*silence = (struct silence){state->events, now};
		return is_first && was_over(f, state);
	}
	return state->has_ended || (state->is_gone && now - silence->since_ns >= GONE_QUIET_NS);
}

static unsigned terminal_rows(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : TERMINAL_ROWS;
}

/* Draws the rows that fit, from the top; the last row gives the number of the others. */
static void draw(FILE *file, const char *text)
{
	unsigned rows = terminal_rows(fileno(file)), row = 0, more = 0;

	fputs("\033[H", file);
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (++row < rows)
			fprintf(file, "%.*s\033[K\r\n", (int)n, text);
		else
			more++;
		text += n + (text[n] == '\n');
	}
	if (more)
		fprintf(file,
			sp_translate_plural("%u more line; the whole report comes at the end",
					    "%u more lines; the whole report comes at the end",
					    more),
			more);
	fputs("\033[J", file);
	fflush(file);
}

/* One report, in place. */
static int refresh_drawn(const struct sp_follow *f, struct sp_follow_state *state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int status;

	if (!memory)
		return 1;
	status = f->refresh(f->context, memory, false, state);
	if (fclose(memory) == 0 && status == 0)
		draw(f->file, text);
	free(text);
	return status;
}

static int refresh_below(const struct sp_follow *f, bool is_first, struct sp_follow_state *state)
{
	int status;

	if (!is_first && f->has_gaps)
		fputc('\n', f->file);
	status = f->refresh(f->context, f->file, false, state);
	return fflush(f->file) == 0 ? status : 1;
}

/* Returns early on a signal. */
static void pause_for(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	if (!signals)
		nanosleep(&t, NULL);
}

static void enter_screen(FILE *file)
{
	fputs(ENTER_SCREEN, file);
	fflush(file);
	on_screen = 1;
}

static void leave_screen(FILE *file)
{
	fputs(LEAVE_SCREEN, file);
	fflush(file);
	on_screen = 0;
}

/* Returns the exit status of the last report; *ret_over: the reason for ending. */
static int follow_on(const struct sp_follow *f, bool *ret_over)
{
	struct silence silence = {0, 0};
	bool is_first = true;
	int status = 0;

	*ret_over = false;
	while (status == 0 && !signals && !*ret_over) {
		uint64_t before = now_ns(CLOCK_PROCESS_CPUTIME_ID), cost;
		struct sp_follow_state state = {.events = 0};

		status =
			f->in_place ? refresh_drawn(f, &state) : refresh_below(f, is_first, &state);
		is_first = false;
		*ret_over = is_over(f, &silence, &state);
		cost = now_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
		if (status == 0 && !*ret_over)
			pause_for(cost * COST_FACTOR > f->interval_ns ? cost * COST_FACTOR
								      : f->interval_ns);
	}
	return status;
}

int sp_follow_run(const struct sp_follow *f)
{
	struct sp_follow_state state;
	bool is_over;
	int status;

	catch_signals();
	if (f->in_place)
		enter_screen(f->file);
	status = follow_on(f, &is_over);
	if (!f->in_place)
		return status;
	leave_screen(f->file);
	return status ? status : f->refresh(f->context, f->file, true, &state);
}
