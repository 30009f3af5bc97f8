/* SPDX-License-Identifier: Apache-2.0 */
// Waits that pthread_cancel ends and a read that a C++ exception leaves: destructors run in order, and
// the calls are events that were abandoned.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

struct told {
	const char *what;
	~told()
	{
		printf("left %s\n", what);
	}
};

static void *in_read(void *)
{
	told leaving{"read"};
	char byte;

	return read(ends[0], &byte, 1) < 0 ? nullptr : ends;
}

static void *in_poll(void *)
{
	told leaving{"poll"};
	pollfd fd{ends[0], POLLIN, 0};

	poll(&fd, 1, -1);
	return nullptr;
}

static void *in_semaphore(void *)
{
	told leaving{"semaphore"};

	sem_wait(&semaphore);
	return nullptr;
}

static void unlock(void *)
{
	pthread_mutex_unlock(&mutex);
}

static void *in_condition(void *)
{
	told leaving{"condition"};

	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, nullptr);
	pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return nullptr;
}

static ssize_t throwing(void *, char *, size_t)
{
	throw 42;
}

static void thrown()
{
	cookie_io_functions_t functions{throwing, nullptr, nullptr, nullptr};
	FILE *stream = fopencookie(nullptr, "r", functions);
	char byte;

	setvbuf(stream, nullptr, _IONBF, 0);
	try {
		told leaving{"fread"};
		printf("%zu\n", fread(&byte, 1, 1, stream));
	} catch (int what) {
		printf("caught %d\n", what);
	}
}

int main()
{
	void *(*const functions[])(void *) = {in_read, in_poll, in_semaphore, in_condition};

	if (pipe(ends) < 0)
		return 2;
	sem_init(&semaphore, 0, 0);
	for (auto function : functions) {
		timespec soon{0, 20 * 1000 * 1000};
		pthread_t thread;
		void *result;

		pthread_create(&thread, nullptr, function, nullptr);
		nanosleep(&soon, nullptr);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "ended");
	}
	pthread_mutex_lock(&mutex); // given back by the cancelled thread
	thrown();
	return 0;
}
