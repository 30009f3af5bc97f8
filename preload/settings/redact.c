/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/settings/redact.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/settings/config.h"
#include "preload/sys/paths.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/log_once.h"

#define EXTENSION_BYTES 16u

static enum { FULL, BASENAME, HASH, NONE } kept;

void sp_redact_init(void)
{
	static const char *const words[] =
		{[FULL] = "full", [BASENAME] = "basename", [HASH] = "hash"};

	if (!sp_config.paths || !*sp_config.paths)
		return;
	kept = FULL;
	while (kept < NONE && !sp_config_is(sp_config.paths, words[kept]))
		kept++;
	if (kept == NONE && !sp_config_is(sp_config.paths, "none"))
		sp_log_once("not understood: STAGEPROF_PATHS", sp_config.paths, 0,
			    "no file name is kept; full, basename, hash or none");
}

/* Two rounds, because one round would reveal its seed to a reader who knows a path and its hash. */
static uint64_t keyed_hash(const char *path, size_t length)
{
	uint64_t inner = XXH64(path, length, sp_run.key[0]);

	return XXH64(&inner, sizeof(inner), sp_run.key[1]);
}

static size_t hash_in_place(char *path, size_t length, const char *name)
{
	const char *dot = strrchr(name, '.');
	char extension[EXTENSION_BYTES] = "";
	struct sp_text text;

	if (dot && strlen(dot) < sizeof(extension))
		strcpy(extension, dot);
	text = (struct sp_text){path, path + SP_REDACT_BYTES - 1, 0};
	sp_text_add_hex(&text, keyed_hash(path, length));
	sp_text_add(&text, extension);
	return (size_t)(text.at - path);
}

size_t sp_redact(char *path, size_t length)
{
	char *name = strrchr(path, '/');

	if (kept == FULL || path[0] != '/')
		return length;
	name++;
	switch (kept) {
	case BASENAME:
		length = strlen(name);
		memmove(path, name, length + 1);
		return length;
	case HASH:
		return hash_in_place(path, length, name);
	default:
		path[0] = 0;
		return 0;
	}
}

int sp_redact_keeps_whole(void)
{
	return kept == FULL;
}

int sp_redact_keeps_last_part(void)
{
	return kept == BASENAME;
}

size_t sp_redact_peer(char *address, size_t length)
{
	if (kept == FULL || kept == BASENAME)
		return length;
	if (kept == HASH)
		return hash_in_place(address, length, "");
	address[0] = 0;
	return 0;
}
