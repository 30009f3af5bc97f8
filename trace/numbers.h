/*
 * Numbers in groups of SP_NUMBERS_GROUP, bit-packed: for durations, whose low bits are noise that no entropy
 * coder shortens, and whose few long ones would make all of a group wide.
 *
 * A group is
 *	width		a byte, at most SP_NUMBERS_WIDTH_MAX
 *	exceptions	a byte, at most the numbers of the group
 *	least		zigzag varint: the least number, as signed
 *	bits		of each number minus the least, the lowest `width`; low bits first; whole bytes
 *	positions	a byte for each exception, in the group
 *	rest		a varint for each exception: its bits above `width`
 *
 * The last group holds what is left. Arithmetic is modulo 2^64. No allocation, no state, async-signal-safe; the
 * reader trusts no byte.
 */
#ifndef STAGEPROF_TRACE_NUMBERS_H
#define STAGEPROF_TRACE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/varint.h"

#define SP_NUMBERS_GROUP 64u
#define SP_NUMBERS_WIDTH_MAX 32u

/* Most bytes that n numbers take, and that are stored to: 11 each where all are exceptions; and the last group is put
 * by eights, a word at a time. */
static inline size_t sp_numbers_bytes_max(uint32_t n)
{
	return (size_t)n * 11 + (n / SP_NUMBERS_GROUP + 1) * 20 + 40;
}

/* Returns the place behind the last group. */
uint8_t *sp_numbers_pack(uint8_t *out, const int64_t *numbers, uint32_t n);

/* The same bytes of the same numbers. */
uint8_t *sp_numbers_pack_narrow(uint8_t *out, const int32_t *numbers, uint32_t n);

/* Where n numbers can be unpacked to: whole groups are stored. */
static inline uint32_t sp_numbers_room(uint32_t n)
{
	return (n + SP_NUMBERS_GROUP - 1) / SP_NUMBERS_GROUP * SP_NUMBERS_GROUP;
}

/* Reads n numbers from `in`; `ret` has sp_numbers_room(n). Sets in->bad where they are not there. */
void sp_numbers_unpack(int64_t *ret, uint32_t n, struct sp_input *in);

#endif
