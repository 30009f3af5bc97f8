/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the device from generated code, which has no unwind information and keeps in the
 * frame's register what it likes: addresses that are mapped and cannot be read among it. A tracer
 * that took such a register for a frame's address would end the process. generated ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_cuda.h"
#include "tests/programs/victims/tally.h"

#define PAGE 4096u
#define LONG_NS 2000000u
#define APART 977u /* bytes from one piece of code to the next */

#ifdef __x86_64__
typedef int generated_call(void *function, uintptr_t frame);

/* push rbp; push rbx; sub rsp, 24; mov rax, rdi; mov rbp, rsi; xor edi, edi; call rax; add rsp, 24;
 * pop rbx; pop rbp; ret */
static const uint8_t code[] = {0x55, 0x53, 0x48, 0x83, 0xEC, 0x18, 0x48, 0x89,
			       0xF8, 0x48, 0x89, 0xF5, 0x31, 0xFF, 0xFF, 0xD0,
			       0x48, 0x83, 0xC4, 0x18, 0x5B, 0x5D, 0xC3};

static char *pages(int protection)
{
	char *at = mmap(NULL, 2 * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(at != MAP_FAILED);
	return at;
}

static int wait_from(char *at, uintptr_t frame)
{
	static const struct fake_dim3 one = {1, 1, 1};
	uint64_t ns = LONG_NS;
	void *arguments[] = {&ns};

	EXPECT(cudaLaunchKernel((const void *)wait_from, one, one, arguments, 0, NULL) == FAKE_OK);
	return ((generated_call *)at)((void *)cudaStreamSynchronize, frame);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	char *generated = pages(PROT_READ | PROT_WRITE | PROT_EXEC),
	     *end = pages(PROT_READ | PROT_WRITE);
	uintptr_t frames[] = {0,
			      1,
			      0xDEADBEEF,
			      UINTPTR_MAX - 0xFF,
			      (uintptr_t)main,
			      (uintptr_t)&rounds,
			      (uintptr_t)end + PAGE - 1,
			      (uintptr_t)end + PAGE - 8,
			      (uintptr_t)end + PAGE};
	size_t n = sizeof(frames) / sizeof(frames[0]);

	EXPECT(mprotect(end + PAGE, PAGE, PROT_NONE) == 0);
	for (long round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++) {
			char *at = generated + (APART * ((size_t)round * n + i)) % PAGE;

			memcpy(at, code, sizeof(code));
			EXPECT(wait_from(at, frames[i]) == FAKE_OK);
		}
	puts("done");
	return 0;
}
#else
int main(void)
{
	puts("not for this processor");
	return 0;
}
#endif
