/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit-packed numbers in groups of SP_NUMBERS_GROUP. The numbers are durations: no entropy coder
 * shortens their low bits, which are noise, and a few long ones would widen a whole group.
 *
 * A group is
 *	width		a byte, at most SP_NUMBERS_WIDTH_MAX
 *	exceptions	a byte, at most the numbers of the group
 *	least		zigzag varint: the least number, signed
 *	bits		the lowest `width` bits of each number minus the least; low bits
 *			first; padded to a whole byte
 *	indexes		a byte for each exception: its index in the group
 *	rest		a varint for each exception: its bits above `width`
 *
 * The last group holds the rest. Arithmetic is modulo 2^64. No allocation, no state,
 * async-signal-safe. The reader trusts no byte.
 */
#ifndef STAGEPROF_TRACE_NUMBERS_H
#define STAGEPROF_TRACE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/varint.h"

#define SP_NUMBERS_GROUP 64u
#define SP_NUMBERS_WIDTH_MAX 32u

/* The most bytes that the packing of n numbers stores to: 11 each if all are exceptions, and the
 * last group is stored eight numbers at a time. */
static inline size_t sp_numbers_bytes_max(uint32_t n)
{
	return (size_t)n * 11 + (n / SP_NUMBERS_GROUP + 1) * 20 + 40;
}

/* Returns the end of the last group. */
uint8_t *sp_numbers_pack(uint8_t *out, const int64_t *numbers, uint32_t n);

/* Makes the same bytes from 32-bit numbers. Returns the end of the last group. */
uint8_t *sp_numbers_pack_narrow(uint8_t *out, const int32_t *numbers, uint32_t n);

/* Room that n numbers need for unpacking, because whole groups are stored. */
static inline uint32_t sp_numbers_room(uint32_t n)
{
	return (n + SP_NUMBERS_GROUP - 1) / SP_NUMBERS_GROUP * SP_NUMBERS_GROUP;
}

/* Reads n numbers from `in`; `ret` has sp_numbers_room(n). Sets in->bad if `in` is too short. */
void sp_numbers_unpack(int64_t *ret, uint32_t n, struct sp_input *in);

#endif
