/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/label.h"

#include <string.h>

#include "analyzer/text/text.h"

enum sp_label sp_label_of(const char *text, size_t bytes)
{
	if (sp_text_begins(text, bytes, "Optimizer.step#"))
		return SP_LABEL_OPTIMIZER;
	if (sp_text_begins(text, bytes, "Optimizer.zero_grad#"))
		return SP_LABEL_ZERO_GRAD;
	if (sp_text_begins(text, bytes, "enumerate(DataLoader)#"))
		return SP_LABEL_LOADER;
	if (sp_text_begins(text, bytes, "gloo:") || sp_text_begins(text, bytes, "mpi:") ||
	    sp_text_begins(text, bytes, "ucc:"))
		return SP_LABEL_COLLECTIVE;
	if (sp_text_begins(text, bytes, SP_LABEL_GROUP_BEGIN))
		return SP_LABEL_GROUP;
	return SP_LABEL_OTHER;
}

/* Labels of calls that bootstrap.py wraps; `names` ends in NULL. */
static bool is_one_of(const char *text, size_t bytes, const char *const names[])
{
	for (; *names; names++)
		if (bytes == strlen(*names) && memcmp(text, *names, bytes) == 0)
			return true;
	return false;
}

bool sp_label_exchanges(const char *text, size_t bytes)
{
	const char *colon = memchr(text, ':', bytes);
	size_t left = colon ? (size_t)(text + bytes - colon) : 0;

	return sp_label_of(text, bytes) == SP_LABEL_COLLECTIVE &&
	       (sp_text_begins(colon, left, ":send") || sp_text_begins(colon, left, ":recv"));
}

static bool is_backward(const char *text, size_t bytes)
{
	static const char *const names[] = {"backward",
					    "autograd.grad",
					    "paddle backward",
					    "GradientTape.gradient",
					    "GradientTape.jacobian",
					    "at::Tensor::backward",
					    "torch::autograd::backward",
					    NULL};

	return is_one_of(text, bytes, names);
}

bool sp_label_saves(const char *text, size_t bytes)
{
	static const char *const names[] = {"torch.save", "safetensors save_file", "paddle.save",
					    NULL};

	return is_one_of(text, bytes, names);
}

bool sp_label_fetches(const char *text, size_t bytes)
{
	static const char *const names[] = {"DataLoader fetch", "paddle DataLoader fetch", NULL};

	return is_one_of(text, bytes, names);
}

/* Wrapped optimizers: "paddle Adam.step"; whole steps: "step: jit(update)". */
bool sp_label_may_step(const char *text, size_t bytes)
{
	return sp_label_of(text, bytes) == SP_LABEL_OPTIMIZER || is_backward(text, bytes) ||
	       sp_text_ends(text, bytes, ".step") || sp_text_ends(text, bytes, "::step") ||
	       sp_text_ends(text, bytes, ".minimize") || sp_text_begins(text, bytes, "step: ");
}

bool sp_label_casts(const char *text, size_t bytes)
{
	static const char *const names[] = {"ToCopyBackward0", "ToCopyBackward", NULL};

	return is_one_of(text, bytes, names);
}

bool sp_label_covers_graphs(const char *text, size_t bytes)
{
	return sp_text_begins(text, bytes, "cuda-graphs\t");
}

bool sp_label_covers_device(const char *text, size_t bytes)
{
	return sp_text_begins(text, bytes, "cuda-gpu-time\t");
}

bool sp_label_covers_compile(const char *text, size_t bytes)
{
	return sp_text_begins(text, bytes, "torch-compile\t");
}

size_t sp_label_bytes(const char *text, size_t bytes)
{
	static const char step[] = "ProfilerStep#";
	size_t head = sizeof(step) - 1;

	if (!sp_text_begins(text, bytes, step))
		return bytes;
	for (size_t i = head; i < bytes; i++)
		if (text[i] < '0' || text[i] > '9')
			return bytes;
	return head;
}

const char *sp_label_spaced(char room[SP_LABEL_ROOM], const char *text, size_t *bytes)
{
	if (!*bytes || !memchr(text, '\t', *bytes))
		return text;
	/* The outermost module has no path, so its label begins with a tab. */
	while (*bytes && *text == '\t') {
		text++;
		--*bytes;
	}
	*bytes = *bytes < SP_LABEL_ROOM ? *bytes : SP_LABEL_ROOM;
	for (size_t i = 0; i < *bytes; i++)
		room[i] = text[i] == '\t' ? ' ' : text[i];
	return room;
}
