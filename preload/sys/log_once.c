/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/log_once.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

static int is_logged;
/* The file that was stderr at the start. If another file has its number now, we must not write to
 * it. */
static uint64_t stderr_device, stderr_inode;

static int stderr_identity(uint64_t *ret_device, uint64_t *ret_inode)
{
	struct stat st;

	if (SP_SYS2(SYS_fstat, 2, &st) < 0)
		return -1;
	*ret_device = st.st_dev;
	*ret_inode = st.st_ino;
	return 0;
}

void sp_log_init(void)
{
	if (stderr_identity(&stderr_device, &stderr_inode) < 0)
		is_logged = 1;
}

void sp_log_stop(void)
{
	__atomic_store_n(&is_logged, 1, __ATOMIC_RELAXED);
}

static const char *reason(long error)
{
	switch (error) {
	case -ENOENT:
		return "no such directory";
	case -EACCES:
	case -EPERM:
		return "not allowed";
	case -EROFS:
		return "read-only file system";
	case -ENOSPC:
		return "no space left";
	case -EDQUOT:
		return "quota exceeded";
	case -EFBIG:
		return "file size limit (ulimit -f)";
	case -EMFILE:
	case -ENFILE:
		return "too many open files";
	case -ENOMEM:
		return "no memory";
	case -ENOTDIR:
		return "not a directory";
	case -ENAMETOOLONG:
		return "name too long";
	case -EIO:
		return "input/output error";
	case -EINPROGRESS:
		return "the file system does not answer";
	default:
		return NULL;
	}
}

void sp_log_once(const char *what, const char *value, long error, const char *fix)
{
	char line[512];
	struct sp_text text = sp_text_init(line, sizeof(line) - 1);
	uint64_t device, inode;

	if (__atomic_exchange_n(&is_logged, 1, __ATOMIC_RELAXED))
		return;
	if (stderr_identity(&device, &inode) < 0 || device != stderr_device ||
	    inode != stderr_inode)
		return;
	sp_text_add(&text, "stageprof: ");
	sp_text_add(&text, what);
	if (value) {
		sp_text_add(&text, " ");
		sp_text_add(&text, value);
	}
	if (error) {
		const char *why = reason(error);

		sp_text_add(&text, why ? ": " : ": error ");
		if (why)
			sp_text_add(&text, why);
		else
			sp_text_add_number(&text, (uint64_t)-error, 10);
	}
	if (fix) {
		sp_text_add(&text, "; ");
		sp_text_add(&text, fix);
	}
	/* a setting's value may hold what a terminal obeys */
	for (char *p = line; p < text.at; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	*text.at++ = '\n';
	SP_SYS3(SYS_write, 2, line, text.at - line);
}
