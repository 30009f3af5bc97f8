/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/shell.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       strchr("/._-+,:@%=", c);
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

const char *sp_shell_quote(char *ret, size_t ret_bytes, const char *word)
{
	bool plain = *word != '\0', control = false;
	size_t at;

	for (const char *p = word; *p; p++) {
		plain &= is_plain((unsigned char)*p);
		control |= is_control((unsigned char)*p);
	}
	at = (size_t)snprintf(ret, ret_bytes, "%s", plain ? word : control ? "$'" : "'");
	if (plain)
		return ret;
	for (const char *p = word; *p && at + 8 < ret_bytes; p++) {
		if (control && is_control((unsigned char)*p))
			at += (size_t)sprintf(ret + at, "\\x%02x", (unsigned char)*p);
		else if (control && strchr("'\\", *p))
			at += (size_t)sprintf(ret + at, "\\%c", *p);
		else
			at += (size_t)sprintf(ret + at, *p == '\'' ? "'\\''" : "%c", *p);
	}
	strcpy(ret + at, "'");
	return ret;
}

const char *sp_shell_relative(const char *path)
{
	char cwd[PATH_MAX];
	size_t bytes;

	if (!getcwd(cwd, sizeof(cwd)))
		return path;
	bytes = strlen(cwd);
	return strncmp(path, cwd, bytes) == 0 && path[bytes] == '/' && path[bytes + 1] != '-'
		       ? path + bytes + 1
		       : path;
}
