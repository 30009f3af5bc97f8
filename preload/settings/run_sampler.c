/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/settings/run_sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/paths.h"

#define VARIABLE "STAGEPROF_SAMPLER"
#define TOKEN_BYTES 32u /* as in STAGEPROF_RUN */

static void token_write(char ret[TOKEN_BYTES + 1])
{
	struct sp_text text = sp_text_init(ret, TOKEN_BYTES + 1);

	sp_text_add_hex(&text, sp_run.token[0]);
	sp_text_add_hex(&text, sp_run.token[1]);
}

static int is_of(const char *token)
{
	const char *sampler = sp_config.sampler;

	return sampler && strlen(sampler) > TOKEN_BYTES && sampler[TOKEN_BYTES] == ':' &&
	       memcmp(sampler, token, TOKEN_BYTES) == 0;
}

/* TOKEN(32 hex) ':' PID */
int sp_run_sampler(uint64_t *ret_pid)
{
	char token[TOKEN_BYTES + 1];

	token_write(token);
	if (!is_of(token))
		return -ENOENT;
	*ret_pid = strtoull(sp_config.sampler + TOKEN_BYTES + 1, NULL, 10);
	return 0;
}

int sp_run_sampler_inherited(void)
{
	return sp_config.run && strlen(sp_config.run) > TOKEN_BYTES && is_of(sp_config.run);
}

int sp_run_sampler_publish(uint64_t pid)
{
	char token[TOKEN_BYTES + 1], value[TOKEN_BYTES + 32];
	struct sp_text text = sp_text_init(value, sizeof(value));

	token_write(token);
	sp_text_add(&text, token);
	sp_text_add(&text, ":");
	sp_text_add_number(&text, pid, 10);
	return setenv(VARIABLE, value, 1) == 0 ? 0 : -ENOMEM;
}
