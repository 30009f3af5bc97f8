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
#define WAIT_MAX 16u /* looks between two searches of a process without CPython */

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
		(struct sp_sampled_process){.pid = pid, .parent = parent};
}

static void add_children_of_thread(struct sp_sampled_processes *processes, pid_t pid,
				   const char *tid)
{
	char path[64 + 256], text[4096], *at = text, *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	for (;; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			return;
		add(processes, (pid_t)child, pid);
	}
}

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
	r = find_by_parent(processes, process) ? 0 : sp_python_find(&process->python, process->pid);
	if (r == 0) {
		uint64_t word;

		r = sp_other_read(process->pid, process->python.runtime, &word, sizeof(word));
	}
	process->misses = 0;
	process->wait = process->tries < WAIT_MAX ? process->tries++ : WAIT_MAX;
	if (r == 0)
		process->state = SP_SAMPLED_FOUND;
	if (r == -EPERM || r == -ENOTSUP || r == -ENOSYS)
		process->state = SP_SAMPLED_NEVER;
	processes->refused += r == -EPERM || r == -ENOSYS;
	processes->foreign += r == -ENOTSUP;
}

static bool is_there(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return access(path, F_OK) == 0;
}

void sp_sampled_processes_look(struct sp_sampled_processes *processes, pid_t root)
{
	add(processes, root, 0);
	for (uint32_t i = 0; i < processes->count; i++)
		add_children(processes, processes->list[i].pid);
	for (uint32_t i = processes->count; i > 0; i--)
		if (!is_there(processes->list[i - 1].pid))
			sp_sampled_process_remove(processes, i - 1);
	for (uint32_t i = 0; i < processes->count; i++)
		if (processes->list[i].state == SP_SAMPLED_NEW)
			find(processes, &processes->list[i]);
}

/* Returns 0 where there is no such thread. */
static pid_t tid_of(const struct sp_sampled_process *process, uint64_t key)
{
	char path[64];
	uint32_t tid = (uint32_t)key;

	if (process->python.layout.has_pthread &&
	    sp_other_read(process->pid, key + PTHREAD_TID_AT, &tid, sizeof(tid)) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)process->pid, tid);
	return access(path, F_OK) == 0 ? (pid_t)tid : 0;
}

static int open_of(pid_t pid, pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

struct sp_sampled_thread *sp_sampled_thread_of(struct sp_sampled_process *process, uint64_t key)
{
	pid_t tid;

	for (uint32_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].key == key)
			return &process->threads[i];
	tid = process->thread_count < THREADS_MAX ? tid_of(process, key) : 0;
	if (!tid)
		return NULL;
	if (process->thread_count == process->thread_room) {
		uint32_t room = process->thread_room ? 2 * process->thread_room : 8;
		struct sp_sampled_thread *list = realloc(process->threads, room * sizeof(*list));

		if (!list)
			return NULL;
		process->threads = list;
		process->thread_room = room;
	}
	process->threads[process->thread_count] =
		(struct sp_sampled_thread){.key = key,
					   .tid = tid,
					   .usage_fd = open_of(process->pid, tid, "schedstat"),
					   .state_fd = open_of(process->pid, tid, "stat")};
	return &process->threads[process->thread_count++];
}

void sp_sampled_thread_remove(struct sp_sampled_process *process, uint32_t i)
{
	if (process->threads[i].usage_fd >= 0)
		close(process->threads[i].usage_fd);
	if (process->threads[i].state_fd >= 0)
		close(process->threads[i].state_fd);
	process->threads[i] = process->threads[--process->thread_count];
}

bool sp_sampled_thread_usage(const struct sp_sampled_thread *thread, uint64_t *ret_cpu_ns,
			     uint64_t *ret_turns)
{
	char text[96], *at;
	ssize_t n = thread->usage_fd < 0 ? -1 : pread(thread->usage_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = 0;
	*ret_cpu_ns = strtoull(text, &at, 10);
	strtoull(at, &at, 10);
	*ret_turns = strtoull(at, NULL, 10);
	return *ret_cpu_ns || *ret_turns; /* a kernel without the counts shows zeros */
}

/* "tid (name) state …"; the name may contain anything, and has at most 15 bytes. */
char sp_sampled_thread_state(const struct sp_sampled_thread *thread)
{
	char text[64], *at;
	ssize_t n = thread->state_fd < 0 ? -1 : pread(thread->state_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strrchr(text, ')');
	return at && at[1] == ' ' ? at[2] : 0;
}

void sp_sampled_process_remove(struct sp_sampled_processes *processes, uint32_t i)
{
	struct sp_sampled_process *process = &processes->list[i];

	while (process->thread_count)
		sp_sampled_thread_remove(process, 0);
	free(process->threads);
	*process = processes->list[--processes->count];
}

void sp_sampled_processes_finish(struct sp_sampled_processes *processes)
{
	while (processes->count)
		sp_sampled_process_remove(processes, 0);
	free(processes->list);
}
