/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_streams.h"

#include <string.h>

#include "preload/cuda/abi_cuda.h"
#include "preload/cuda/cuda_events.h"
#include "preload/recorder/recorder.h"

#define CHAINS 8u /* streams timed at the same time */

static struct sp_cuda_chain chains[CHAINS];
static uint32_t chain_count;
static uint32_t given_up; /* pairs of dropped chains that were not reported yet */

int sp_cuda_streams_exist(void)
{
	return chain_count != 0;
}

static struct sp_cuda_chain *chain_find(void *context, void *stream, const void *owner)
{
	for (uint32_t i = 0; i < chain_count; i++)
		if (chains[i].context == context && chains[i].stream == stream &&
		    chains[i].owner == owner)
			return &chains[i];
	return NULL;
}

/* The stream by its handle alone; NULL if several contexts have a stream with this handle. */
static struct sp_cuda_chain *chain_only(const void *stream, const void *owner)
{
	struct sp_cuda_chain *found = NULL;

	for (uint32_t i = 0; i < chain_count; i++) {
		if (chains[i].stream != stream || chains[i].owner != owner)
			continue;
		if (found)
			return NULL;
		found = &chains[i];
	}
	return found;
}

/* The next stream of the same context reuses the events of a stream that is gone. */
static struct sp_cuda_chain *chain_make(void *context, void *stream, const void *owner)
{
	struct sp_cuda_chain *c = chain_find(context, NULL, NULL);
	int device;

	if (sp_cuda_events.cuCtxGetDevice(&device))
		return NULL;
	if (!c && chain_count < CHAINS)
		c = &chains[chain_count++];
	if (!c)
		return NULL;
	c->number = (uint32_t)(c - chains);
	c->context = context;
	c->stream = stream;
	c->owner = owner;
	c->device = (uint32_t)device;
	c->put = c->got = 0;
	c->dropped += given_up;
	given_up = 0;
	return c;
}

struct sp_cuda_chain *sp_cuda_streams_find(uint64_t stream, int per_thread, int may_be_made)
{
	void *context = NULL, *handle;
	const void *owner = NULL;
	struct sp_cuda_chain *c;

	if (stream <= SP_CUDA_STREAM_PER_THREAD) {
		int own = stream == SP_CUDA_STREAM_PER_THREAD || (!stream && per_thread);

		stream = own ? SP_CUDA_STREAM_PER_THREAD : SP_CUDA_STREAM_LEGACY;
		owner = own ? &sp_tls : NULL;
	}
	handle = (void *)(uintptr_t)stream;
	if (sp_cuda_events.cuCtxGetCurrent(&context))
		return NULL;
	/* The runtime makes a context current in a thread's first call: take the context that other
	 * threads use. */
	c = context ? chain_find(context, handle, owner) : chain_only(handle, owner);
	return c || !context || !may_be_made ? c : chain_make(context, handle, owner);
}

int sp_cuda_streams_are_open(void)
{
	for (uint32_t i = 0; i < chain_count; i++)
		if (chains[i].stream && !sp_cuda_chain_is_open(&chains[i]))
			return 0;
	return chain_count > 0;
}

void sp_cuda_streams_collect(void)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < chain_count; i++)
		ret = sp_cuda_chain_collect(&chains[i]);
	if (ret)
		sp_cuda_streams_abandon();
}

static int is_other_threads(const struct sp_cuda_chain *c)
{
	return c->owner && c->owner != &sp_tls;
}

void sp_cuda_streams_close(uint32_t phase)
{
	for (uint32_t i = 0; i < chain_count; i++) {
		struct sp_cuda_chain *c = &chains[i];

		if (sp_cuda_chain_is_open(c) &&
		    (is_other_threads(c) || sp_cuda_chain_put(c, phase, SP_CUDA_MARK_END)))
			sp_cuda_chain_drop(c);
	}
}

void sp_cuda_streams_drop(void)
{
	for (uint32_t i = 0; i < chain_count; i++)
		if (sp_cuda_chain_is_open(&chains[i]))
			sp_cuda_chain_drop(&chains[i]);
}

void sp_cuda_streams_release(uint64_t stream)
{
	for (uint32_t i = 0; i < chain_count; i++)
		if (chains[i].stream == (void *)(uintptr_t)stream)
			sp_cuda_chain_release(&chains[i]);
}

void sp_cuda_streams_abandon(void)
{
	for (uint32_t i = 0; i < chain_count; i++)
		given_up += chains[i].dropped + sp_cuda_chain_outstanding(&chains[i]);
	memset(chains, 0, sizeof(chains));
	chain_count = 0;
}

void sp_cuda_streams_reset(void)
{
	sp_cuda_streams_abandon();
	given_up = 0;
}
