/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/returns.h"

#ifdef SP_RETURNS_ARE_CHOSEN
#include <stdint.h>
#include <unistd.h>

#include "preload/sys/clock.h"
#include "preload/sys/hidden.h"
#include "preload/sys/hot_data.h"

#define ROUNDS 12u
#define ROUND_CALLS 8u

uint8_t sp_returns_jump SP_HOT_DATA SP_HIDDEN = 0;

/* Where gcc has the functions of SP_RETURNS_AS_CHOSEN return: the name is its. r11 is no caller's
 * and holds no result. */
__asm__(".pushsection .text\n"
	".p2align 5\n"
	".globl __x86_return_thunk\n"
	".hidden __x86_return_thunk\n"
	".type __x86_return_thunk, @function\n"
	"__x86_return_thunk:\n"
	".cfi_startproc\n"
	"cmpb $0, sp_returns_jump(%rip)\n"
	"je 1f\n"
	".cfi_remember_state\n"
	"popq %r11\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_register %rip, %r11\n"
	"jmpq *%r11\n"
	"1:\n"
	".cfi_restore_state\n"
	"ret\n"
	".cfi_endproc\n"
	".size __x86_return_thunk, .-__x86_return_thunk\n"
	".popsection\n");

/* The empty assembly keeps the calls from becoming jumps. */
#define SP_RETURNING(name, call)                                                                   \
	static __attribute__((noinline)) SP_RETURNS_AS_CHOSEN pid_t name(void)                     \
	{                                                                                          \
		pid_t pid = call();                                                                \
                                                                                                   \
		__asm__ volatile("" : : : "memory");                                               \
		return pid;                                                                        \
	}

/* Several returns after one system call: with one return the two ways differ by 3%, which is noise;
 * with four returns they differ by 10%. */
SP_RETURNING(behind_call, getpid)
SP_RETURNING(behind_one, behind_call)
SP_RETURNING(behind_two, behind_one)
SP_RETURNING(behind_three, behind_two)

static uint64_t round_ticks(uint8_t jump)
{
	uint64_t begin = sp_clock_ticks();

	__atomic_store_n(&sp_returns_jump, jump, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < ROUND_CALLS; i++)
		behind_three();
	return sp_clock_ticks() - begin;
}

void sp_returns_choose(void)
{
	static uint32_t chosen; /* forked children inherit it */
	uint64_t least[2] = {UINT64_MAX, UINT64_MAX};

	if (__atomic_exchange_n(&chosen, 1, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		uint64_t ticks = round_ticks(i % 2);

		least[i % 2] = ticks < least[i % 2] ? ticks : least[i % 2];
	}
	__atomic_store_n(&sp_returns_jump, least[1] < least[0], __ATOMIC_RELAXED);
}
#else
void sp_returns_choose(void)
{
}
#endif
