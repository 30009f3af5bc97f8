/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hooks/unseen.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"

/* group, and the beginning of the file's name */
static const char *const libraries[][2] = {{"libaio", "libaio.so"}, {"liburing", "liburing.so"}};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

static int library_match(struct dl_phdr_info *object, size_t size, void *ret_loaded)
{
	const char *name = strrchr(object->dlpi_name, '/');

	(void)size;
	name = name ? name + 1 : object->dlpi_name;
	for (size_t i = 0; i < LIBRARIES; i++)
		if (strncmp(name, libraries[i][1], strlen(libraries[i][1])) == 0)
			((unsigned char *)ret_loaded)[i] = 1;
	return 0;
}

void sp_unseen_end(void)
{
	const struct sp_thread *t = sp_tls.thread;
	unsigned char loaded[LIBRARIES] = {0};

	if (!sp_process || !t || t->state != SP_THREAD_LIVE)
		return; /* nothing was recorded: coverage alone begins no run */
	dl_iterate_phdr(library_match, loaded);
	for (size_t i = 0; i < LIBRARIES; i++)
		if (loaded[i])
			sp_coverage_add(libraries[i][0], "unobservable",
					"the library is loaded, and what is read and written "
					"through it is not seen");
}
