/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/run_summary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "preload/settings/run_identity.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/launcher_error.h"
#include "scripts/launcher/shell.h"

/* The summary of a large trace takes long, and somebody waits for the command to end. */
#define SUMMARY_SECONDS_MAX 10u
#define WORDS_MAX 8u

/* Our signals are blocked, and LD_PRELOAD names the library: neither is for stageprof-report. */
static void exec_report(const struct sp_summary_wishes *wishes, const char *report, char **words,
			unsigned seconds)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(seconds);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (wishes->preload)
		setenv("LD_PRELOAD", wishes->preload, 1);
	else
		unsetenv("LD_PRELOAD");
	/* The command's output is no place for a summary, even where standard error is closed. */
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(127);
	execv(report, words);
	_exit(127);
}

/* Returns 0 where stageprof-report did what it was asked for. */
static int report(const struct sp_summary_wishes *wishes, char **words, unsigned seconds)
{
	char path[SP_PATH_BYTES];
	int status = -1;
	pid_t pid;

	if (sp_install_report(path) < 0)
		return -ENOENT;
	words[0] = (char *)"stageprof-report";
	pid = fork();
	if (pid == 0)
		exec_report(wishes, path, words, seconds);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : -EIO;
}

static int make_page(const struct sp_summary_wishes *wishes)
{
	char *words[WORDS_MAX] =
		{NULL,	       (char *)"html",	     (char *)"--quiet", (char *)"--symbols",
		 (char *)"-o", (char *)wishes->page, sp_run.directory};

	int error = report(wishes, words, 0);

	/* its line advises options that stageprof run does not have */
	if (error == -EIO)
		sp_error_print(SP_ERROR_page, wishes->page, N_("the line above says why"), NULL);
	return error;
}

static void print_summary(const struct sp_summary_wishes *wishes)
{
	char against[SP_RUN_PATH_BYTES + 16];
	char *words[WORDS_MAX] = {NULL, (char *)"card", (char *)"--quiet", sp_run.directory};

	if (wishes->earlier) {
		snprintf(against, sizeof(against), "--against=%s",
			 sp_shell_relative(wishes->earlier));
		words[4] = against;
	}
	report(wishes, words, SUMMARY_SECONDS_MAX);
}

void sp_run_page_name(char *ret, const char *directory)
{
	const char *name = strrchr(directory, '/') + 1;
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".zst") == 0)
		n -= 4;
	snprintf(ret, SP_PATH_BYTES, "%.*s.html", (int)n, name);
}

static void print_next(const struct sp_summary_wishes *wishes, int has_page)
{
	char path[SP_PATH_BYTES], report_word[2 * SP_PATH_BYTES], run[2 * SP_PATH_BYTES],
		page[2 * SP_PATH_BYTES];
	const char *word = sp_install_report_word(path);

	sp_shell_quote(run, sizeof(run), sp_shell_relative(sp_run.directory));
	if (!word) {
		fprintf(stderr,
			_("stageprof: the trace is in %s; stageprof-report is not there any more "
			  "to read it: install stageprof again\n"),
			run);
		return;
	}
	sp_shell_quote(report_word, sizeof(report_word), word);
	if (has_page) {
		sp_shell_quote(page, sizeof(page), wishes->page);
		fprintf(stderr, _("stageprof: the trace is in %s, the page is %s; next:\n"), run,
			page);
	} else {
		fprintf(stderr, _("stageprof: the trace is in %s; next:\n"), run);
	}
	fprintf(stderr, "    %s %s\n", report_word, run);
	if (!has_page) {
		sp_run_page_name(path, sp_run.directory);
		sp_shell_quote(page, sizeof(page), path);
		fprintf(stderr, "    %s html --symbols -o %s %s\n", report_word, page, run);
	}
	word = wishes->can_repeat ? sp_install_own_word(path) : NULL;
	if (word)
		fprintf(stderr, "    %s again  # %s\n",
			sp_shell_quote(report_word, sizeof(report_word), word),
			_("after a change: is it faster?"));
}

/* True where the last byte of this regular file is another one than a line's end. */
static int is_within_line(int fd, off_t size)
{
	char path[32], last = '\n';
	int file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = size ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (file >= 0 && pread(file, &last, 1, size - 1) != 1)
		last = '\n';
	if (file >= 0)
		close(file);
	return last != '\n';
}

/*
 * A progress bar leaves the cursor in its line. On a terminal one column less than a line of
 * spaces, and a return, reach the next line from anywhere but a line's begin.
 */
static void begin_line(void)
{
	const char *term = getenv("TERM");
	struct winsize size = {.ws_col = 0};
	struct stat st;

	if (isatty(STDERR_FILENO)) {
		if (term && strcmp(term, "dumb") != 0 &&
		    ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
			fprintf(stderr, "%*s\r", size.ws_col - 1, "");
	} else if (fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
		   is_within_line(STDERR_FILENO, st.st_size)) {
		fputc('\n', stderr);
	}
}

void sp_run_summary_print(const struct sp_summary_wishes *wishes)
{
	int has_page = wishes->page && make_page(wishes) == 0;

	if (wishes->is_quiet)
		return;
	begin_line();
	if (!wishes->is_joined)
		print_summary(wishes);
	print_next(wishes, has_page);
}
