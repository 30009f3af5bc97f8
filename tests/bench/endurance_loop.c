/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endurance_loop FILE TALLY EVENTS EPOCHS WORKERS: a training in compressed form. Half of the
 * EVENTS are reads of the process itself; the others are shared by new workers in each epoch, of
 * which every fiftieth is killed by SIGKILL. A worker has a second thread of 20 reads. TALLY gets a
 * row of each process: when it began (CLOCK_REALTIME, ns), reads begun, reads done. Prints
 * {"rss_kib":
 * [...]}, the resident memory of the process at ten instants, evenly spread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/loop.h"

#define BUFFER_BYTES (1u << 20)
#define HELPER_READS 20u
#define KILLED_EACH 50u

struct row {
	uint64_t began_ns, begun, done;
};

static const char *path;
static struct row *rows;

/* A read of one byte is no system call: the time is the recorder's. */
static void read_bytes(FILE *file, uint64_t count, struct row *row)
{
	char byte;

	for (uint64_t i = 0; i < count; i++) {
		__atomic_store_n(&row->begun, row->begun + 1, __ATOMIC_RELAXED);
		if (fread(&byte, 1, 1, file) != 1) {
			rewind(file);
			bench_require(fread(&byte, 1, 1, file) == 1, path);
			__atomic_store_n(&row->begun, row->begun + 1, __ATOMIC_RELAXED);
			__atomic_store_n(&row->done, row->done + 1, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&row->done, row->done + 1, __ATOMIC_RELAXED);
	}
}

static FILE *file_open(void)
{
	FILE *file = fopen(path, "rb");

	bench_require(file != NULL, path);
	setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
	return file;
}

static void *help(void *argument)
{
	FILE *file = file_open();

	read_bytes(file, HELPER_READS, argument);
	fclose(file);
	return NULL;
}

static void work(uint64_t count, struct row *row, int is_killed)
{
	FILE *file = file_open();
	struct row *helper_row = row + 1;
	pthread_t helper;

	row->began_ns = helper_row->began_ns = bench_ns(CLOCK_REALTIME);
	pthread_create(&helper, NULL, help, helper_row);
	read_bytes(file, count, row);
	pthread_join(helper, NULL);
	if (is_killed)
		kill(getpid(), SIGKILL);
	_exit(0);
}

static unsigned long rss_kib(void)
{
	unsigned long total = 0, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	bench_require(file && fscanf(file, "%lu %lu", &total, &pages) == 2, "statm");
	fclose(file);
	return pages * 4;
}

static void epoch(uint64_t number, unsigned workers, uint64_t each)
{
	pid_t pids[64];

	for (unsigned i = 0; i < workers; i++) {
		uint64_t worker = number * workers + i;

		pids[i] = fork();
		bench_require(pids[i] >= 0, "fork");
		if (pids[i] == 0)
			work(each, &rows[1 + 2 * worker], worker % KILLED_EACH == KILLED_EACH - 1);
	}
	for (unsigned i = 0; i < workers; i++)
		bench_require(waitpid(pids[i], NULL, 0) == pids[i], "waitpid");
}

static struct row *rows_map(const char *tally, size_t count)
{
	int fd = open(tally, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *map;

	bench_require(fd >= 0 && ftruncate(fd, (off_t)(count * sizeof(struct row))) == 0, tally);
	map = mmap(NULL, count * sizeof(struct row), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	bench_require(map != MAP_FAILED, tally);
	return map;
}

int main(int argc, char **argv)
{
	uint64_t events, epochs;
	unsigned workers;
	FILE *file;

	if (argc != 6)
		return 2;
	path = argv[1];
	events = strtoull(argv[3], NULL, 10);
	epochs = strtoull(argv[4], NULL, 10);
	workers = (unsigned)strtoul(argv[5], NULL, 10);
	if (epochs < 10 || workers < 1 || workers > 64)
		return 2;
	rows = rows_map(argv[2], 1 + 2 * epochs * workers);
	rows[0].began_ns = bench_ns(CLOCK_REALTIME);
	file = file_open();
	printf("{\"rss_kib\": [");
	for (uint64_t i = 0; i < epochs; i++) {
		read_bytes(file, events / 2 / epochs, &rows[0]);
		epoch(i, workers, events / 2 / epochs / workers);
		if ((i + 1) % (epochs / 10) == 0)
			printf("%s%lu", i + 1 > epochs / 10 ? ", " : "", rss_kib());
	}
	printf("]}\n");
	return 0;
}
