/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/host.h"

#include <string.h>
#include <sys/utsname.h>

#define PLAIN "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._"

bool sp_host_is_this(const struct sp_host *host)
{
	struct utsname names;

	if (uname(&names) < 0)
		return false;
	for (char *p = names.nodename; *p; p++)
		if (!strchr(PLAIN, *p))
			*p = '_';
	return strncmp(names.nodename, host->name, sizeof(host->name) - 1) == 0;
}
