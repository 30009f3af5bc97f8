/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of processes that ended: the arenas that go, and the memory that stays. */
#include <check.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/files/arena.h"
#include "preload/sys/sys.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"
#include "trace/arenas/arena_collect.h"
#include "trace/arenas/arena_files.h"

static int is_there(int id)
{
	struct shmid_ds ds;

	return shmctl(id, IPC_STAT, &ds) == 0;
}

/* Memory of a process that has ended, with `number` at `at` where that is not 0. */
static int memory_left(key_t key, size_t bytes, size_t at, uint64_t number)
{
	static int *shared;
	int id;

	if (!shared)
		shared =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		*shared = shmget(key, bytes, IPC_CREAT | IPC_EXCL | 0600);
		if (at)
			memcpy((char *)shmat(*shared, NULL, 0) + at, &number, sizeof(number));
		_exit(0);
	}
	wait(NULL);
	id = *shared;
	ck_assert_int_ge(id, 0);
	return id;
}

static void collect_later(const uint64_t *token, unsigned seconds)
{
	static struct sp_collect_paths paths;
	struct sp_collect collect = {.sys = sp_sys, .paths = &paths, .uid = geteuid()};

	collect.now_s = (uint64_t)time(NULL) + seconds;
	sp_arenas_collect(&collect, token);
}

/* A process that is killed while it makes an arena leaves memory that says nothing yet. */
START_TEST(memory_that_was_never_an_arena_goes)
{
	const uint64_t token[2] = {1, 2};
	const size_t bytes = sp_arena_segment_bytes(2, token);
	int none = memory_left(IPC_PRIVATE, bytes, 0, 0),
	    numbered = memory_left(IPC_PRIVATE, bytes, offsetof(struct sp_arena, units), 2);

	int living = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);

	collect_later(token, 0);
	ck_assert(!is_there(none));
	ck_assert(!is_there(numbered));
	ck_assert(is_there(living)); /* its process may be about to attach it */
	shmctl(living, IPC_RMID, NULL);
}
END_TEST

START_TEST(memory_of_other_programs_stays)
{
	const uint64_t token[2] = {1, 2};
	const size_t bytes = sp_arena_segment_bytes(2, token);
	const int theirs[] = {
		shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600), /* this process lives */
		memory_left(IPC_PRIVATE, sp_arena_bytes(2), 0, 0),
		memory_left(IPC_PRIVATE, bytes, sizeof(struct sp_arena), 1),
		memory_left(IPC_PRIVATE, bytes, bytes - 8, 1),
		memory_left((key_t)getpid(), bytes, 0, 0),
	};

	collect_later(token, 100);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		ck_assert_msg(is_there(theirs[i]), "memory %zu", i);
		shmctl(theirs[i], IPC_RMID, NULL);
	}
}
END_TEST

/* A host may enter another IPC namespace, where memory of its own has the arena's number. */
START_TEST(an_arena_leaves_memory_of_its_number_alone)
{
	struct sp_arena_pool pool = {.count = 0};
	struct sp_arena_identity identity = {.header = &(struct sp_file_header){.run_token = {1}},
					     .name = "",
					     .directory = ""};
	struct sp_arena_keeper keeper = {.run_token = identity.header->run_token};
	struct sp_tail tail = sp_tail_take(&pool, &identity, SP_ARENA_UNIT_BYTES);
	int theirs = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), ours = pool.list[0].id;

	ck_assert_int_ge(ours, 0);
	sp_tail_give(&pool, &tail);
	pool.list[0].id = theirs;
	sp_arenas_end(&pool, &keeper);
	ck_assert(is_there(theirs));
	shmctl(theirs, IPC_RMID, NULL);
	shmctl(ours, IPC_RMID, NULL);
}
END_TEST

/* The arena of a process that is gone; its folder is gone, too. */
static int arena_left(const uint64_t token[2])
{
	static int *shared;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		struct sp_arena_pool pool = {.count = 0};
		struct sp_file_header header = {.run_token = {token[0], token[1]}};
		struct sp_arena_identity identity = {.header = &header,
						     .name = "name",
						     .directory = "/tmp/stageprof-no-folder/"
								  "run.zst"};

		sp_tail_take(&pool, &identity, SP_ARENA_UNIT_BYTES);
		*shared = pool.list[0].id;
		_exit(0);
	}
	wait(NULL);
	ck_assert_int_ge(*shared, 0);
	return *shared;
}

/* Another process that begins makes the file of an arena: the launcher waits for it. */
START_TEST(a_taker_at_work_is_waited_for)
{
	const uint64_t token[2] = {getpid(), 77};
	const struct timespec work = {0, 30000000};
	int id = arena_left(token), began[2];
	pid_t taker;
	char byte;

	ck_assert_int_eq(pipe(began), 0);
	taker = fork();
	if (taker == 0) {
		void *at = shmat(id, NULL, SHM_RDONLY);

		if (write(began[1], "", 1) != 1)
			_exit(1);
		nanosleep(&work, NULL);
		shmdt(at);
		_exit(0);
	}
	ck_assert_int_eq(read(began[0], &byte, 1), 1);
	sp_arenas_to_files("/tmp/stageprof-no-folder/run.zst", token);
	ck_assert(!is_there(id));
	waitpid(taker, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("left_memory");
	TCase *t = tcase_create("left_memory");

	tcase_add_test(t, memory_that_was_never_an_arena_goes);
	tcase_add_test(t, memory_of_other_programs_stays);
	tcase_add_test(t, a_taker_at_work_is_waited_for);
	tcase_add_test(t, an_arena_leaves_memory_of_its_number_alone);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
