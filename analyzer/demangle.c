#include "analyzer/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct written {
	char *at, *end;
	jmp_buf full;
};

/* The demangler has no memory of its own, and no way to be told to stop. */
static void take(const char *text, size_t bytes, void *context)
{
	struct written *written = context;

	if (bytes > (size_t)(written->end - written->at))
		longjmp(written->full, 1);
	memcpy(written->at, text, bytes);
	written->at += bytes;
}

const char *sp_demangle(const char *name, size_t *bytes, char ret[SP_DEMANGLED_BYTES])
{
	struct written written = {.at = ret, .end = ret + SP_DEMANGLED_BYTES};

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) != *bytes || setjmp(written.full) != 0 ||
	    !cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, take, &written))
		return name;
	*bytes = (size_t)(written.at - ret);
	return ret;
}
