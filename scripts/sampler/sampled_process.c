/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/sampled_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scripts/sampler/other_memory.h"

#define PROCESSES_MAX 1024u
#define THREADS_MAX 1024u
#define UNBOUND_MAX 100u /* lists, until a state without a thread is taken for one for ever */
#define STATES_MAX 4096u /* of one interpreter: a torn list may be a circle */
#define LOOKS_OF_ALL 10u /* looks, of which one lists the children of all threads */
#define CLOCK_OF_SCHEDULER 2u
#define TRIES_OF_FOREIGN 3u /* a Python begins before its library is there */
#define WAIT_MAX 16u	    /* looks between two searches of a process without CPython */

/* pthread_t is the address of glibc's struct pthread, which has the kernel's thread id here. */
#if defined(__x86_64__)
#define PTHREAD_TID_AT 0x2D0u
#else
#define PTHREAD_TID_AT 0xD0u
#endif

static int has_process(const struct sp_sampled_processes *processes, pid_t pid)
{
	for (uint32_t i = 0; i < processes->count; i++)
		if (processes->list[i].pid == pid)
			return 1;
	return 0;
}

/* As clock_getcpuclockid() gives it. */
static clockid_t clock_of(pid_t pid)
{
	return (clockid_t)((~(unsigned)pid << 3) | CLOCK_OF_SCHEDULER);
}

static void add(struct sp_sampled_processes *processes, pid_t pid, pid_t parent)
{
	if (processes->count == PROCESSES_MAX || has_process(processes, pid))
		return;
	if (processes->count == processes->room) {
		uint32_t room = processes->room ? 2 * processes->room : 16;
		struct sp_sampled_process *list = realloc(processes->list, room * sizeof(*list));

		if (!list)
			return;
		processes->list = list;
		processes->room = room;
	}
	processes->list[processes->count++] =
		(struct sp_sampled_process){.pid = pid, .parent = parent, .clock = clock_of(pid)};
}

static void add_listed(struct sp_sampled_processes *processes, pid_t pid, int fd)
{
	char text[4096], *at = text, *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	for (;; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			return;
		add(processes, (pid_t)child, pid);
	}
}

static int open_of(pid_t pid, const char *tid, const char *name)
{
	char path[64 + 256];

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void add_children_of_thread(struct sp_sampled_processes *processes, pid_t pid,
				   const char *tid)
{
	int fd = open_of(pid, tid, "children");

	if (fd < 0)
		return;
	add_listed(processes, pid, fd);
	close(fd);
}

/* Each thread has children of its own. */
static void add_children(struct sp_sampled_processes *processes, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			add_children_of_thread(processes, pid, entry->d_name);
	if (tasks)
		closedir(tasks);
}

/* Mostly a thread that runs Python has the children, and it has run where it has new ones. */
static void add_children_of_python(struct sp_sampled_processes *processes, uint32_t i)
{
	pid_t pid = processes->list[i].pid;
	struct sp_sampled_thread *threads = processes->list[i].threads; /* stay where they are */
	uint32_t count = processes->list[i].thread_count;

	for (uint32_t k = 0; k < count; k++)
		if (threads[k].has_run && threads[k].children_fd >= 0) {
			threads[k].has_run = false;
			add_listed(processes, pid, threads[k].children_fd);
		}
}

static void look_for_children(struct sp_sampled_processes *processes, uint32_t i)
{
	struct sp_sampled_process *process = &processes->list[i];
	bool lists_all = process->state == SP_SAMPLED_NEW || process->looks++ % LOOKS_OF_ALL == 0;

	if (lists_all)
		add_children(processes, process->pid);
	else
		add_children_of_python(processes, i);
}

/* A forked child has CPython where its parent has it: then both have the same first interpreter. */
static bool find_by_parent(const struct sp_sampled_processes *processes,
			   struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < processes->count; i++) {
		const struct sp_sampled_process *parent = &processes->list[i];
		uint64_t at = parent->python.runtime + parent->python.layout.interpreters_head;
		uint64_t head;

		if (parent->pid != process->parent || parent->state != SP_SAMPLED_FOUND)
			continue;
		head = sp_other_word(parent->pid, at);
		if (!head || sp_other_word(process->pid, at) != head)
			return false;
		process->python = parent->python;
		return true;
	}
	return false;
}

static void find(struct sp_sampled_processes *processes, struct sp_sampled_process *process)
{
	int r;

	if (process->wait) {
		process->wait--;
		return;
	}
	r = find_by_parent(processes, process)
		    ? 0
		    : sp_sampled_python_find(&process->python, process->pid);
	if (r == 0) {
		uint64_t word;

		r = sp_other_read(process->pid, process->python.runtime, &word, sizeof(word));
	}
	process->misses = 0;
	process->wait = process->tries < WAIT_MAX ? process->tries++ : WAIT_MAX;
	if (r == 0)
		process->state = SP_SAMPLED_FOUND;
	if (r == -EPERM && processes->is_apart && process->tries < TRIES_OF_FOREIGN)
		return;
	if (r == -ENOENT && process->tries == TRIES_OF_FOREIGN &&
	    sp_python_is_foreign(process->pid))
		r = -ENOTSUP;
	if (r == -EPERM || r == -ENOTSUP || r == -ENOSYS)
		process->state = SP_SAMPLED_NEVER;
	processes->refused += r == -EPERM || r == -ENOSYS;
	processes->foreign += r == -ENOTSUP;
}

static void close_known(int fd)
{
	if (fd >= 0)
		close(fd);
}

void sp_sampled_thread_remove(struct sp_sampled_process *process, uint32_t i)
{
	struct sp_sampled_thread *thread = &process->threads[i];

	close_known(thread->usage_fd);
	close_known(thread->state_fd);
	close_known(thread->children_fd);
	sp_named_stack_finish(&thread->last);
	sp_native_leaf_close(&thread->leaf);
	*thread = process->threads[--process->thread_count];
}

static void process_remove(struct sp_sampled_processes *processes, uint32_t i)
{
	struct sp_sampled_process *process = &processes->list[i];

	while (process->thread_count)
		sp_sampled_thread_remove(process, 0);
	free(process->threads);
	sp_library_map_finish(&process->libraries);
	*process = processes->list[--processes->count];
}

void sp_sampled_processes_look(struct sp_sampled_processes *processes, pid_t root)
{
	struct timespec time;

	add(processes, root, 0);
	for (uint32_t i = 0; i < processes->count; i++)
		look_for_children(processes, i);
	for (uint32_t i = processes->count; i > 0; i--)
		if (clock_gettime(processes->list[i - 1].clock, &time) < 0)
			process_remove(processes, i - 1);
	for (uint32_t i = 0; i < processes->count; i++)
		if (processes->list[i].state == SP_SAMPLED_NEW)
			find(processes, &processes->list[i]);
}

/* The state of a second interpreter may have no thread id of the kernel (3.11). Its pthread_t is
 * the word before that. Returns 0 where there is no such thread. */
static pid_t tid_of(const struct sp_sampled_process *process, uint64_t state, uint64_t key)
{
	const struct sp_python_layout *l = &process->python.layout;
	uint64_t pthread = l->has_pthread ? key : 0;
	uint32_t tid = (uint32_t)key;
	char path[64];

	if (!key && !l->has_pthread)
		pthread = sp_other_word(process->pid, state + l->thread_tid - sizeof(pthread));
	if (pthread && sp_other_read(process->pid, pthread + PTHREAD_TID_AT, &tid, sizeof(tid)) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)process->pid, tid);
	return access(path, F_OK) == 0 ? (pid_t)tid : 0;
}

static int open_state(pid_t pid, const char *tid)
{
	int fd = open_of(pid, tid, "syscall");

	return fd >= 0 ? fd : open_of(pid, tid, "stat");
}

/* A state has no thread until the thread begins to run. */
static void add_thread(struct sp_sampled_process *process, uint64_t state, uint64_t key)
{
	struct sp_sampled_thread *list;
	pid_t tid = process->thread_count < THREADS_MAX ? tid_of(process, state, key) : 0;
	char name[16];

	process->has_unbound |= !tid;
	if (!tid)
		return;
	snprintf(name, sizeof(name), "%d", (int)tid);
	if (process->thread_count == process->thread_room) {
		uint32_t room = process->thread_room ? 2 * process->thread_room : 8;

		list = realloc(process->threads, room * sizeof(*list));
		if (!list)
			return;
		process->threads = list;
		process->thread_room = room;
	}
	process->threads[process->thread_count++] =
		(struct sp_sampled_thread){.state = state,
					   .key = key,
					   .tid = tid,
					   .interpreter = process->head_count,
					   .is_seen = true,
					   .usage_fd = open_of(process->pid, name, "schedstat"),
					   .state_fd = open_state(process->pid, name),
					   .children_fd = open_of(process->pid, name, "children")};
}

static bool has_thread(struct sp_sampled_process *process, uint64_t state, uint64_t key)
{
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];

		if (thread->state == state && thread->key == key) {
			thread->is_seen = true;
			thread->interpreter = process->head_count;
			return true;
		}
	}
	return false;
}

static bool add_head(struct sp_sampled_process *process, uint64_t at, uint64_t *ret)
{
	struct sp_sampled_head head = {.at = at};

	if (process->head_count == SP_SAMPLED_HEADS_MAX ||
	    sp_other_read(process->pid, at, &head.value, sizeof(head.value)) < 0)
		return false;
	process->heads[process->head_count++] = head;
	*ret = head.value;
	return true;
}

static int list_threads(struct sp_sampled_process *process, uint64_t state)
{
	struct sp_walk_thread thread;

	for (uint32_t i = 0; state && i < STATES_MAX; i++) {
		int r = sp_walk_thread(&thread, &process->python, process->pid, state);

		if (r < 0)
			return r == -EFAULT ? -EAGAIN : r;
		if (!has_thread(process, state, thread.tid))
			add_thread(process, state, thread.tid);
		state = thread.next;
	}
	return state ? -EAGAIN : 0;
}

int sp_sampled_process_list(struct sp_sampled_process *process)
{
	const struct sp_python_layout *l = &process->python.layout;
	uint64_t interpreter = 0, state;
	int r = 0;

	process->head_count = 0;
	process->has_unbound = false;
	for (uint32_t i = 0; i < process->thread_count; i++)
		process->threads[i].is_seen = false;
	if (!add_head(process, process->python.runtime + l->interpreters_head, &interpreter))
		return 0;
	while (r == 0 && interpreter && process->head_count < SP_SAMPLED_HEADS_MAX) {
		if (!add_head(process, interpreter + l->threads_head, &state))
			return -EAGAIN;
		r = list_threads(process, state);
		interpreter = sp_other_word(process->pid, interpreter + l->interpreter_next);
	}
	process->unbound_lists = process->has_unbound ? process->unbound_lists + 1 : 0;
	process->is_stale = r < 0 || (process->has_unbound && process->unbound_lists < UNBOUND_MAX);
	return r < 0 ? r : (int)process->thread_count;
}

int sp_sampled_thread_usage(const struct sp_sampled_thread *thread, uint64_t *ret_cpu_ns,
			    uint64_t *ret_turns)
{
	char text[96], *at;
	ssize_t n = thread->usage_fd < 0 ? 0 : pread(thread->usage_fd, text, sizeof(text) - 1, 0);

	*ret_cpu_ns = *ret_turns = 0;
	if (n < 0 && errno == ESRCH)
		return -ESRCH;
	if (n <= 0)
		return -ENODATA;
	text[n] = 0;
	*ret_cpu_ns = strtoull(text, &at, 10);
	strtoull(at, &at, 10);
	*ret_turns = strtoull(at, NULL, 10);
	/* a kernel without the counts shows zeros */
	return *ret_cpu_ns || *ret_turns ? 0 : -ENODATA;
}

/*
 * The file syscall has "running", "NUMBER ARGUMENTS SP PC" in a system call, or "-1 SP PC" where
 * the thread waits for a page. Some kernels have no such file, so the text may be that of stat:
 * "TID (NAME) STATE …", whose name may contain anything, and has at most 15 bytes.
 */
static char state_of(const char *text)
{
	const char *name_end = strrchr(text, ')');

	if (name_end)
		return name_end[1] == ' ' ? name_end[2] : 0;
	if (text[0] == 'r')
		return 'R';
	return text[0] == '-' ? 'D' : 'S';
}

int sp_sampled_thread_state(const struct sp_sampled_thread *thread, char *ret)
{
	char text[64];
	ssize_t n = thread->state_fd < 0 ? 0 : pread(thread->state_fd, text, sizeof(text) - 1, 0);

	*ret = 0;
	if (n < 0 && errno == ESRCH)
		return -ESRCH;
	if (n <= 0)
		return 0;
	text[n] = 0;
	*ret = state_of(text);
	return 0;
}

void sp_sampled_processes_finish(struct sp_sampled_processes *processes)
{
	while (processes->count)
		process_remove(processes, 0);
	free(processes->list);
}
