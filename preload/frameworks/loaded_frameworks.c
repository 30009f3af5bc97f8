/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/loaded_frameworks.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/switch.h"
#include "preload/waits/step_rusage.h"
#include "trace/events.h"
#include "trace/frameworks.h"

#define NAME_BYTES 96u

static const struct framework {
	const char *name, *module, *object;
	enum sp_framework_id instead;
	unsigned gives;
} frameworks[SP_FRAMEWORKS] = {
#define SP_FRAMEWORK(name, title, module, object, instead, gives)                                  \
	[SP_FRAMEWORK_##name] = {#name, module, object, SP_FRAMEWORK_##instead, gives},
#include "trace/frameworks.def"
#undef SP_FRAMEWORK
};

static unsigned char imported[SP_FRAMEWORKS]; /* 2: its steps are given */

const char *sp_framework_module(int number)
{
	return number >= 0 && number < SP_FRAMEWORKS ? frameworks[number].module : NULL;
}

static void append(char text[NAME_BYTES], const char *word)
{
	size_t used = strlen(text);

	strncat(text, word, NAME_BYTES - 1 - used);
}

static void name_add(const struct framework *f, const char *version, int gives_steps)
{
	char text[NAME_BYTES] = "";

	append(text, f->name);
	append(text, *version ? " " : "");
	append(text, version);
	sp_coverage_add(SP_FRAMEWORK_GROUP,
			gives_steps && f->gives & (SP_GIVES_ALL | SP_GIVES_SOME_STEPS) ? "bound"
										       : "loaded",
			text);
}

void sp_frameworks_imported(int number, const char *version, int gives_steps)
{
	int state = gives_steps ? 2 : 1;

	if (number < 0 || number >= SP_FRAMEWORKS || imported[number] >= state)
		return;
	imported[number] = (unsigned char)state;
	name_add(&frameworks[number], version, gives_steps);
}

void sp_framework_call_end(int number, struct sp_range range, uint32_t phase, const char *label,
			   size_t bytes)
{
	int kept = errno;

	sp_frameworks_imported(number, "", 1);
	if (phase == SP_PHASE_backward)
		sp_rusage_define_step();
	sp_range_end(range, SP_EV_python_call, phase, label, bytes);
	if (sp_phase_optimizes(phase))
		sp_switch_step();
	else if (phase == SP_PHASE_backward)
		sp_switch_backward();
	errno = kept;
}

static int object_match(struct dl_phdr_info *object, size_t size, void *ret_loaded)
{
	const char *name = strrchr(object->dlpi_name, '/');

	(void)size;
	name = name ? name + 1 : object->dlpi_name;
	for (size_t i = 0; i < SP_FRAMEWORKS; i++) {
		size_t bytes = strlen(frameworks[i].object);

		if (bytes && strncmp(name, frameworks[i].object, bytes) == 0)
			((unsigned char *)ret_loaded)[i] = 1;
	}
	return 0;
}

void sp_frameworks_end(void)
{
	const struct sp_thread *t = sp_tls.thread;
	unsigned char loaded[SP_FRAMEWORKS] = {0};

	if (!sp_process || !t || t->state != SP_THREAD_LIVE)
		return; /* nothing was recorded: coverage alone begins no run */
	dl_iterate_phdr(object_match, loaded);
	for (size_t i = 0; i < SP_FRAMEWORKS; i++)
		if (loaded[i] && !imported[i] && !imported[frameworks[i].instead])
			name_add(&frameworks[i], "", 0);
}
