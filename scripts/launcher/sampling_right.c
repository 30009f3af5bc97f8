/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/sampling_right.h"

#include <stddef.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/launcher_error.h"
#include "scripts/sampler/read_right.h"

/* The reasons for which the sampler may read no process. */
static const struct no_right {
	enum sp_read_right right;
	const char *why, *fix;
} no_rights[] = {
	{SP_READ_YAMA, N_("kernel.yama.ptrace_scope allows it to an administrator or to nobody"),
	 N_("as root: sysctl kernel.yama.ptrace_scope=1 (3 stays until the next boot)")},
	{SP_READ_FILTERED, N_("a filter of system calls refuses process_vm_readv"),
	 N_("start the container with --cap-add=SYS_PTRACE, or with a seccomp profile that allows "
	    "process_vm_readv")},
	{SP_READ_MISSING, N_("this kernel has no process_vm_readv"),
	 N_("nothing to do here; the rest of the report needs no such right")},
	{SP_READ_REFUSED, N_("the kernel refuses it"),
	 N_("run as root, or where ptrace of one's own processes is allowed")},
};

/* NULL: there is the right. */
static const struct no_right *no_right_of(enum sp_read_right right)
{
	for (size_t i = 0; i < sizeof(no_rights) / sizeof(no_rights[0]); i++)
		if (no_rights[i].right == right)
			return &no_rights[i];
	return NULL;
}

const char *sp_sampling_right_missing(const char **ret_fix)
{
	const struct no_right *none = no_right_of(sp_read_right_find());

	if (!none)
		return NULL;
	*ret_fix = none->fix;
	return none->why;
}

void sp_sampling_right_explain(void)
{
	const struct no_right *none = no_right_of(sp_read_right_find());
	static const struct no_right hidden = {SP_READ_ALLOWED,
					       N_("they hide their memory: setuid programs, other "
						  "users', prctl(PR_SET_DUMPABLE)"),
					       N_("run as root")};

	if (!none)
		none = &hidden;
	sp_error_print(SP_ERROR_unsampled, N_("some processes of the run"), none->why, none->fix);
}
