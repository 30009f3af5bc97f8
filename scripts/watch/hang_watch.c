/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/watch/hang_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "preload/settings/run_identity.h"
#include "scripts/watch/watch_thread.h"

#define NS_IN_S UINT64_C(1000000000)
#define LOOKS_IN_LIMIT 4u
#define INTERVAL_MOST_NS (60 * NS_IN_S)
#define SHARE                                                                                      \
	100u /* of the time is spent on reports, unless one takes longer than that of a limit */
#define COMMAND_NS (60 * NS_IN_S)
#define REPORT_NS (600 * NS_IN_S)
#define SECONDS_MOST 1e6
#define STATUS_HUNG 3 /* of stageprof-report --fail-if-hung */

struct hang_watch {
	struct sp_hang_watch *owner;
	struct sp_watch_thread thread;
	pid_t job;
	char limit[48]; /* --fail-if-hung=… */
	/* under its lock */
	pid_t child; /* a report or the command; 0: none, or it has ended */
	int status;  /* of the last one */
	/* the thread's own */
	uint64_t answered_ns; /* when the answer was printed; 0: the job moves */
};

static const struct {
	const char *name;
	int signal;
} signals[] = {
	{"TERM", SIGTERM}, {"INT", SIGINT},   {"KILL", SIGKILL}, {"ABRT", SIGABRT},
	{"QUIT", SIGQUIT}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP},
};

static int signal_of(const char *name)
{
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (strcmp(signals[i].name, name) == 0)
			return signals[i].signal;
	return 0;
}

/* The part after this one, which then ends here: a command may contain commas. NULL: none. */
static char *part_end(char *part)
{
	char *kill = strstr(part, ",kill="), *exec = strstr(part, ",exec=");
	char *end = kill && (!exec || kill < exec) ? kill : exec;

	if (!end)
		return NULL;
	*end = 0;
	return end + 1;
}

static bool time_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
	char *end;
	double x = strtod(text, &end);

	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(*units); i++) {
		double seconds = x * units[i].seconds;

		if (strcmp(end, units[i].unit) == 0 && seconds >= 1 && seconds <= SECONDS_MOST) {
			*ret_ns = (uint64_t)(seconds * (double)NS_IN_S);
			return true;
		}
	}
	return false;
}

const char *sp_hang_watch_parse(char *text, struct sp_hang_watch *ret)
{
	char *next = part_end(text), *part;

	if (!time_parse(text, &ret->limit_ns))
		return N_("it begins with a time of at least 1 s, such as 300s or 5m");
	while ((part = next)) {
		next = part_end(part);
		if (strncmp(part, "exec=", 5) == 0) {
			ret->command = part + 5;
			continue;
		}
		ret->signal = signal_of(part + 5);
		if (!ret->signal)
			return N_("the signal is TERM, INT, KILL, ABRT, QUIT, USR1, USR2 or HUP");
	}
	return NULL;
}

/* Until the time, until the child has ended where there is one, or until the watch's end, at which
 * it returns false. */
static bool wait_until(struct hang_watch *w, uint64_t until_ns, bool has_child)
{
	bool goes_on;

	pthread_mutex_lock(&w->thread.lock);
	while (!w->thread.is_ended && !(has_child && !w->child) &&
	       sp_watch_thread_wait(&w->thread, until_ns))
		;
	goes_on = !w->thread.is_ended;
	pthread_mutex_unlock(&w->thread.lock);
	return goes_on;
}

/* In a child. Its output goes to `output`, or where ours goes if that is negative. */
static void exec_child(const struct hang_watch *w, char *const *words, int output)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (w->owner->preload)
		setenv("LD_PRELOAD", w->owner->preload, 1);
	else
		unsetenv("LD_PRELOAD");
	if (output >= 0 && dup2(output, STDOUT_FILENO) < 0)
		_exit(127);
	execv(words[0], words);
	_exit(127);
}

/* Returns the status as of waitpid(); -1: it did not run, or took longer than most_ns, or the watch
 * has ended. */
static int run_child(struct hang_watch *w, char *const *words, int output, uint64_t most_ns)
{
	bool goes_on;
	pid_t pid;
	int ret;

	pthread_mutex_lock(&w->thread.lock);
	w->status = -1;
	pid = fork();
	if (pid == 0)
		exec_child(w, words, output);
	w->child = pid > 0 ? pid : 0;
	pthread_mutex_unlock(&w->thread.lock);
	goes_on = pid > 0 && wait_until(w, sp_watch_now_ns() + most_ns, true);
	pthread_mutex_lock(&w->thread.lock);
	if (w->child)
		kill(w->child, SIGKILL);
	w->child = 0;
	ret = goes_on ? w->status : -1;
	pthread_mutex_unlock(&w->thread.lock);
	return ret;
}

/* The report's answer, whole. */
static void copy_to_stderr(int fd)
{
	char bytes[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)n, stderr);
}

/* Under the lock the command has not been reaped as the caller knows it, so the number is its. */
static void send(struct hang_watch *w, int signal)
{
	pthread_mutex_lock(&w->thread.lock);
	if (!w->thread.is_ended && kill(w->job, signal) == 0)
		w->owner->has_killed = true;
	pthread_mutex_unlock(&w->thread.lock);
}

static void tell(struct hang_watch *w, int answer)
{
	char *words[] = {(char *)"/bin/sh", (char *)"-c",     w->owner->command,
			 (char *)"sh",	    sp_run.directory, NULL};

	fputs(_("stageprof: training stands still:\n"), stderr);
	copy_to_stderr(answer);
	if (w->owner->command)
		run_child(w, words, STDERR_FILENO, COMMAND_NS);
	if (w->owner->signal)
		send(w, w->owner->signal);
	w->answered_ns = sp_watch_now_ns();
}

static void look(struct hang_watch *w)
{
	char *words[] = {(char *)w->owner->report, (char *)"hang",
			 (char *)"--quiet",	   (char *)"--jobs=1",
			 (char *)"--color=never",  w->limit,
			 sp_run.directory,	   NULL};
	int answer = memfd_create("stageprof-hang", MFD_CLOEXEC), status;

	if (answer < 0)
		return;
	status = run_child(w, words, answer, REPORT_NS);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS_HUNG)
		w->answered_ns = 0;
	else if (!w->answered_ns)
		tell(w, answer);
	else if (w->owner->signal && sp_watch_now_ns() - w->answered_ns > w->owner->limit_ns)
		send(w, SIGKILL);
	close(answer);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void *watch_run(void *argument)
{
	struct hang_watch *w = argument;
	uint64_t limit_ns = w->owner->limit_ns;
	uint64_t usual = least(limit_ns / LOOKS_IN_LIMIT, INTERVAL_MOST_NS);
	uint64_t next = sp_watch_now_ns() + limit_ns;

	while (wait_until(w, next, false)) {
		uint64_t begin = sp_watch_now_ns(), pause;

		if (w->owner->is_ready(w->owner->context))
			look(w);
		pause = least((sp_watch_now_ns() - begin) * SHARE, limit_ns);
		next = sp_watch_now_ns() + (pause > usual ? pause : usual);
	}
	return NULL;
}

void sp_hang_watch_start(struct sp_hang_watch *watch, pid_t pid)
{
	struct hang_watch *w = watch->limit_ns ? calloc(1, sizeof(*w)) : NULL;

	if (!w)
		return;
	w->owner = watch;
	w->job = pid;
	snprintf(w->limit, sizeof(w->limit), "--fail-if-hung=%.3f",
		 (double)watch->limit_ns / (double)NS_IN_S);
	if (sp_watch_thread_start(&w->thread, watch_run, w))
		watch->thread = w;
	else
		free(w);
}

void sp_hang_watch_reaped(struct sp_hang_watch *watch, pid_t pid, int status)
{
	struct hang_watch *w = watch->thread;

	if (!w)
		return;
	pthread_mutex_lock(&w->thread.lock);
	if (pid == w->child) {
		w->child = 0;
		w->status = status;
		pthread_cond_broadcast(&w->thread.changed);
	}
	pthread_mutex_unlock(&w->thread.lock);
}

void sp_hang_watch_stop(struct sp_hang_watch *watch)
{
	struct hang_watch *w = watch->thread;

	if (!w)
		return;
	sp_watch_thread_end(&w->thread);
	pthread_join(w->thread.thread, NULL);
	watch->thread = NULL;
	free(w);
}
