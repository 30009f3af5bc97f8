/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HDF5: reads and writes for each data set, whose path inside the file is looked up when the set
 * is opened. File reads and decompression inside such a call are events of their own, within its
 * time.
 *
 * hid_t is int64_t since HDF5 1.10. The library is asked about an object only after a call of the
 * host succeeded, because HDF5 prints questions about wrong objects on stderr.
 */
#include <string.h>

#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/resolve/resolve.h"
#include "preload/stacks/stacks.h"

#define H5(name) SP_ORIGINAL_FOR_CALLER(name, "H5", NULL)

#define SETS 1024u /* a power of two; if two ids collide, the set opened later is known */
#define NAME_BYTES 1024
#define NAME_BITS 15

_Static_assert(SP_INTERN_MAX <= 1u << NAME_BITS, "a name fits beside its data set");

int64_t H5Iget_name(int64_t id, char *name, size_t bytes);
int64_t H5Dget_space(int64_t set);
int64_t H5Sget_select_npoints(int64_t space);
int H5Sclose(int64_t space);
size_t H5Tget_size(int64_t type);

/* Data sets by id: the id's low bits << NAME_BITS | the name's number; of this image only. */
static struct {
	uint64_t sets[SETS];
	uint64_t image_start_ns;
} known;

static uint64_t *set_entry(int64_t id)
{
	return &known.sets[(uint64_t)id % SETS];
}

/* A forked child numbers names again. */
static void known_check(void)
{
	uint64_t image = __atomic_load_n(&sp_process->image_start_ns, __ATOMIC_RELAXED);

	if (__atomic_load_n(&known.image_start_ns, __ATOMIC_RELAXED) == image)
		return;
	for (unsigned i = 0; i < SETS; i++)
		__atomic_store_n(&known.sets[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&known.image_start_ns, image, __ATOMIC_RELEASE);
}

static uint32_t set_name(struct sp_thread *t, int64_t id, const void *real)
{
	char name[NAME_BYTES];
	int64_t length = SP_ORIGINAL_FOR_CALLER_BESIDE(H5Iget_name, real)(id, name, sizeof(name));
	uint32_t number = 0;

	known_check();
	if (length > 0)
		number = sp_intern(t, name, strnlen(name, sizeof(name)));
	__atomic_store_n(set_entry(id), (uint64_t)id << NAME_BITS | number, __ATOMIC_RELAXED);
	return number;
}

/* The name of a set that was opened unseen is looked up at its first use. */
static uint32_t set_known(int64_t id)
{
	uint64_t entry;

	known_check();
	entry = __atomic_load_n(set_entry(id), __ATOMIC_RELAXED);
	return entry >> NAME_BITS == ((uint64_t)id << NAME_BITS) >> NAME_BITS
		       ? (uint32_t)entry & ((1u << NAME_BITS) - 1)
		       : 0;
}

static void set_unregister(int64_t id)
{
	if (sp_process)
		__atomic_store_n(set_entry(id), 0, __ATOMIC_RELAXED);
}

/* Bytes: elements times their size in memory. 0 is H5S_ALL: the other space counts, or the whole
 * set. */
static int64_t moved_bytes(int64_t set, int64_t type, int64_t memory, int64_t file,
			   const void *real)
{
	int64_t space = memory ? memory : file, own = 0, points;

	if (!space)
		space = own = SP_ORIGINAL_FOR_CALLER_BESIDE(H5Dget_space, real)(set);
	points = SP_ORIGINAL_FOR_CALLER_BESIDE(H5Sget_select_npoints, real)(space);
	if (own > 0)
		SP_ORIGINAL_FOR_CALLER_BESIDE(H5Sclose, real)(own);
	return points < 0
		       ? 0
		       : points * (int64_t)SP_ORIGINAL_FOR_CALLER_BESIDE(H5Tget_size, real)(type);
}

/* Ends a span; HDF5 has no error numbers. Questions to the library are not in its time. */
static void moved_end(struct sp_open_span *span, int64_t set, const void *real, int64_t bytes,
		      uint64_t end)
{
	if (!sp_commit_arg(span->what) && bytes >= 0)
		sp_span_set_arg(span, set_name(span->thread, set, real));
	sp_span_close_at(span, end, bytes);
}

SP_HOOK(int64_t, H5Fopen, const char *path, unsigned flags, int64_t properties)
{
	__typeof__(&H5Fopen) real = H5(H5Fopen);
	struct sp_thread *t = sp_enter();
	int64_t ret;

	if (!t)
		return real(path, flags, properties);
	sp_decode_coverage("hdf5", (const void *)real);
	SP_SPAN(span, t, SP_EV_H5Fopen, 0);
	ret = real(path, flags, properties);
	sp_span_close(&span, ret < 0 ? -1 : 0);
	return ret;
}

static int64_t set_opened(struct sp_open_span *span, int64_t id, const void *real)
{
	uint64_t end = sp_clock_ticks();

	if (id >= 0)
		sp_span_set_arg(span, set_name(span->thread, id, real));
	sp_span_close_at(span, end, id < 0 ? -1 : 0);
	return id;
}

SP_HOOK(int64_t, H5Dopen1, int64_t place, const char *name)
{
	__typeof__(&H5Dopen1) real = H5(H5Dopen1);
	struct sp_thread *t = sp_enter();

	if (!t)
		return real(place, name);
	SP_SPAN(span, t, SP_EV_H5Dopen, 0);
	return set_opened(&span, real(place, name), (const void *)real);
}

SP_HOOK(int64_t, H5Dopen2, int64_t place, const char *name, int64_t properties)
{
	__typeof__(&H5Dopen2) real = H5(H5Dopen2);
	struct sp_thread *t = sp_enter();

	if (!t)
		return real(place, name, properties);
	SP_SPAN(span, t, SP_EV_H5Dopen, 0);
	return set_opened(&span, real(place, name, properties), (const void *)real);
}

/* Groups and named types are opened by this function, too. */
SP_HOOK(int64_t, H5Oopen, int64_t place, const char *name, int64_t properties)
{
	__typeof__(&H5Oopen) real = H5(H5Oopen);
	struct sp_thread *t = sp_enter();

	if (!t)
		return real(place, name, properties);
	SP_SPAN(span, t, SP_EV_H5Dopen, 0);
	return set_opened(&span, real(place, name, properties), (const void *)real);
}

SP_HOOK(int, H5Dread, int64_t set, int64_t type, int64_t memory, int64_t file, int64_t properties,
	void *buf)
{
	__typeof__(&H5Dread) real = H5(H5Dread);
	struct sp_thread *t = sp_enter();
	uint64_t end;
	int ret;

	if (!t)
		return real(set, type, memory, file, properties, buf);
	SP_SPAN(span, t, SP_EV_H5Dread, set_known(set));
	ret = real(set, type, memory, file, properties, buf);
	end = sp_clock_ticks();
	moved_end(&span, set, (const void *)real,
		  ret < 0 ? -1 : moved_bytes(set, type, memory, file, (const void *)real), end);
	return ret;
}

SP_HOOK(int, H5Dwrite, int64_t set, int64_t type, int64_t memory, int64_t file, int64_t properties,
	const void *buf)
{
	__typeof__(&H5Dwrite) real = H5(H5Dwrite);
	struct sp_thread *t = sp_enter();
	uint64_t end;
	int ret;

	if (!t)
		return real(set, type, memory, file, properties, buf);
	SP_SPAN(span, t, SP_EV_H5Dwrite, set_known(set));
	ret = real(set, type, memory, file, properties, buf);
	end = sp_clock_ticks();
	moved_end(&span, set, (const void *)real,
		  ret < 0 ? -1 : moved_bytes(set, type, memory, file, (const void *)real), end);
	return ret;
}

int H5Dget_chunk_storage_size(int64_t set, const uint64_t *offset, uint64_t *ret_bytes);

static int64_t chunk_bytes(int64_t set, const uint64_t *offset, const void *real)
{
	uint64_t bytes = 0;

	SP_ORIGINAL_FOR_CALLER_BESIDE(H5Dget_chunk_storage_size, real)(set, offset, &bytes);
	return (int64_t)bytes;
}

/* The same function under two names: 1.10.3 to 1.14, and 2.0. */
#define READ_CHUNK(name)                                                                           \
	SP_HOOK(int, name, int64_t set, int64_t properties, const uint64_t *offset,                \
		uint32_t *filters, void *buf)                                                      \
	{                                                                                          \
		__typeof__(&name) real = H5(name);                                                 \
		struct sp_thread *t = sp_enter();                                                  \
		uint64_t end;                                                                      \
		int ret;                                                                           \
                                                                                                   \
		if (!t)                                                                            \
			return real(set, properties, offset, filters, buf);                        \
		SP_SPAN(span, t, SP_EV_H5Dread_chunk, set_known(set));                             \
		ret = real(set, properties, offset, filters, buf);                                 \
		end = sp_clock_ticks();                                                            \
		moved_end(&span, set, (const void *)real,                                          \
			  ret < 0 ? -1 : chunk_bytes(set, offset, (const void *)real), end);       \
		return ret;                                                                        \
	}

READ_CHUNK(H5Dread_chunk)
READ_CHUNK(H5Dread_chunk1)

/* 2.0: has an argument more, the size of the buffer */
SP_HOOK(int, H5Dread_chunk2, int64_t set, int64_t properties, const uint64_t *offset,
	uint32_t *filters, void *buf, size_t *room)
{
	__typeof__(&H5Dread_chunk2) real = H5(H5Dread_chunk2);
	struct sp_thread *t = sp_enter();
	uint64_t end;
	int ret;

	if (!t)
		return real(set, properties, offset, filters, buf, room);
	SP_SPAN(span, t, SP_EV_H5Dread_chunk, set_known(set));
	ret = real(set, properties, offset, filters, buf, room);
	end = sp_clock_ticks();
	moved_end(&span, set, (const void *)real,
		  ret < 0 ? -1 : chunk_bytes(set, offset, (const void *)real), end);
	return ret;
}

/* No events: the library may reuse a returned id for another data set. */
SP_HOOK(int, H5Dclose, int64_t set)
{
	set_unregister(set);
	return H5(H5Dclose)(set);
}

SP_HOOK(int, H5Oclose, int64_t object)
{
	set_unregister(object);
	return H5(H5Oclose)(object);
}

SP_HOOK(int, H5Idec_ref, int64_t id)
{
	set_unregister(id);
	return H5(H5Idec_ref)(id);
}
