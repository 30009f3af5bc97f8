#include "analyzer/label.h"

#include <string.h>

static bool begins_with(const char *text, size_t bytes, const char *begin)
{
	size_t n = strlen(begin);

	return bytes >= n && memcmp(text, begin, n) == 0;
}

enum sp_label sp_label_of(const char *text, size_t bytes)
{
	if (begins_with(text, bytes, "Optimizer.step#"))
		return SP_LABEL_OPTIMIZER;
	if (begins_with(text, bytes, "Optimizer.zero_grad#"))
		return SP_LABEL_ZERO_GRAD;
	if (begins_with(text, bytes, "enumerate(DataLoader)#"))
		return SP_LABEL_LOADER;
	if (begins_with(text, bytes, "gloo:") || begins_with(text, bytes, "mpi:") ||
	    begins_with(text, bytes, "ucc:"))
		return SP_LABEL_COLLECTIVE;
	return SP_LABEL_OTHER;
}

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t n = strlen(end);

	return bytes >= n && memcmp(text + bytes - n, end, n) == 0;
}

/* Calls that bootstrap.py wraps. */
static bool is_backward(const char *text, size_t bytes)
{
	static const char *const names[] = {"backward", "autograd.grad", "paddle backward"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (bytes == strlen(names[i]) && memcmp(text, names[i], bytes) == 0)
			return true;
	return false;
}

/* Wrapped optimizers: "paddle Adam.step". */
bool sp_label_may_step(const char *text, size_t bytes)
{
	return sp_label_of(text, bytes) == SP_LABEL_OPTIMIZER || is_backward(text, bytes) ||
	       ends_with(text, bytes, ".step") || ends_with(text, bytes, ".minimize");
}

bool sp_label_covers_graphs(const char *text, size_t bytes)
{
	return begins_with(text, bytes, "cuda-graphs\t");
}
