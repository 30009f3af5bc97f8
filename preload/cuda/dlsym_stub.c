/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym, so that lookups by name return hooked functions of the CUDA driver: by the static
 * runtime inside programs and inside cuBLAS, cuDNN and NCCL, by Triton, CuPy, JAX. Also functions
 * of NCCL and HIP, for Paddle, Triton and ctypes, and of frameworks (sp_later_lookups).
 *
 * The exported dlsym is an assembly stub. It looks at the name and jumps to the next dlsym, so
 * that the caller's address, and with it RTLD_NEXT and RTLD_DEFAULT, keep their meaning. Only
 * hooked names (exact names; cuGetExportTable is not among them) reach the code here. RTLD_NEXT is
 * never changed. With RTLD_DEFAULT a name that only this library defines is not found, as without
 * this library.
 *
 * dlvsym is not hooked: these functions have no versions.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "preload/cuda/cuda_driver.h"
#include "preload/cuda/hooks_cupti.h"
#include "preload/cuda/lookup_functions.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/dlsym_next.h"
#include "preload/recorder/process.h"
#include "preload/sys/elf_symbols.h"
#include "preload/sys/hidden.h"
#include "preload/sys/libdl.h"

int sp_dlsym_is_ours(void *handle, const char *name) SP_HIDDEN;
void *sp_dlsym_answer(void *handle, const char *name) SP_HIDDEN;

/* The stub calls this for names that begin with "cu", "nc",
 * "nv", "hi", "XG", "LG", "Ge" or "TF". */
int sp_dlsym_is_ours(void *handle, const char *name)
{
	if (!sp_process || handle == RTLD_NEXT)
		return 0;
	if (handle == RTLD_DEFAULT)
		return sp_symbol_of_ours(name) != NULL;
	return sp_lookup_knows(name) || sp_cuda_driver_knows(name) || sp_cupti_wrapper(name);
}

/* Searches as if this library were absent: after it, and in libraries loaded RTLD_LOCAL. */
static int is_defined_elsewhere(const char *name)
{
	static const char *const libraries[] = {"libcuda.so.1",	    "libcudart.so.13",
						"libcudart.so.12",  "libcudart.so.11.0",
						"libnccl.so.2",	    "librccl.so.1",
						"libamdhip64.so.7", "libamdhip64.so.6",
						"libamdhip64.so.5"};
	void *handle, *found = NULL;

	for (size_t i = 0; !found && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		handle = sp_dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!handle)
			continue;
		found = sp_dlsym_next(handle, name);
		SP_REAL(dlclose)(handle);
	}
	/* Last, so that dlerror reports a failure for this name. */
	return found || sp_dlsym_next(RTLD_NEXT, name);
}

/* Other copies of the library may be loaded, which a caller that is not linked to them must not
 * reach. */
static void *answer_of_default(const char *name)
{
	void *found = NULL;

	if (!is_defined_elsewhere(name))
		return NULL;
	if (sp_lookup_knows(name)) {
		found = sp_dlsym_next(RTLD_NEXT, name);
		sp_dlerror_clear(); /* the host's lookup succeeds */
	}
	return found ? sp_lookup_wrap(name, found) : sp_symbol_of_ours(name);
}

void *sp_dlsym_answer(void *handle, const char *name)
{
	void *found;

	if (handle == RTLD_DEFAULT)
		return answer_of_default(name);
	found = sp_dlsym_next(handle, name);
	if (found && sp_cupti_wrapper(name))
		return sp_cupti_wrapper(name);
	if (found && sp_lookup_knows(name))
		return sp_lookup_wrap(name, found);
	return found ? sp_cuda_driver_wrap_exported(name, found) : NULL;
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"testq %rsi, %rsi\n\t"
	"jz 1f\n\t"
	"cmpb $0x6e, (%rsi)\n\t" /* n */
	"jne 4f\n\t"
	"cmpb $0x63, 1(%rsi)\n\t" /* c */
	"je 2f\n\t"
	"cmpb $0x76, 1(%rsi)\n\t" /* v */
	"je 2f\n\t"
	"jmp 1f\n"
	"4:\n\t"
	"cmpb $0x68, (%rsi)\n\t" /* h */
	"jne 5f\n\t"
	"cmpb $0x69, 1(%rsi)\n\t" /* i */
	"je 2f\n\t"
	"jmp 1f\n"
	"5:\n\t"
	"cmpb $0x58, (%rsi)\n\t" /* X */
	"je 6f\n\t"
	"cmpb $0x4c, (%rsi)\n\t" /* L */
	"je 6f\n\t"
	"cmpb $0x47, (%rsi)\n\t" /* G */
	"jne 7f\n\t"
	"cmpb $0x65, 1(%rsi)\n\t" /* e */
	"je 2f\n\t"
	"jmp 1f\n"
	"6:\n\t"
	"cmpb $0x47, 1(%rsi)\n\t" /* G */
	"je 2f\n\t"
	"jmp 1f\n"
	"7:\n\t"
	"cmpb $0x63, (%rsi)\n\t" /* c */
	"jne 8f\n\t"
	"cmpb $0x75, 1(%rsi)\n\t" /* u */
	"je 2f\n\t"
	"jmp 1f\n"
	"8:\n\t"
	"cmpb $0x54, (%rsi)\n\t" /* T */
	"jne 1f\n\t"
	"cmpb $0x46, 1(%rsi)\n\t" /* F */
	"je 2f\n"
	"1:\n\t"
	"movq sp_dlsym_target(%rip), %rax\n\t"
	"testq %rax, %rax\n\t"
	"jz 3f\n\t"
	"jmp *%rax\n"
	"2:\n\t"
	"pushq %rdi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %rsi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"subq $8, %rsp\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"call sp_dlsym_is_ours\n\t"
	"addq $8, %rsp\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rsi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rdi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"testl %eax, %eax\n\t"
	"jz 1b\n\t"
	"jmp sp_dlsym_answer\n"
	"3:\n\t"
	"pushq %rdi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %rsi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"subq $8, %rsp\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"call sp_dlsym_target_find\n\t"
	"addq $8, %rsp\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rsi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rdi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"jmp *%rax\n\t"
	".cfi_endproc\n\t"
	".size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	"dlsym:\n\t"
	".cfi_startproc\n\t"
	"cbz x1, 1f\n\t"
	"ldrb w9, [x1]\n\t"
	"cmp w9, #0x6e\n\t" /* n */
	"b.ne 4f\n\t"
	"ldrb w9, [x1, #1]\n\t"
	"cmp w9, #0x63\n\t" /* c */
	"b.eq 2f\n\t"
	"cmp w9, #0x76\n\t" /* v */
	"b.eq 2f\n\t"
	"b 1f\n"
	"4:\n\t"
	"cmp w9, #0x68\n\t" /* h */
	"b.ne 5f\n\t"
	"ldrb w9, [x1, #1]\n\t"
	"cmp w9, #0x69\n\t" /* i */
	"b.eq 2f\n\t"
	"b 1f\n"
	"5:\n\t"
	"cmp w9, #0x58\n\t" /* X */
	"b.eq 6f\n\t"
	"cmp w9, #0x4c\n\t" /* L */
	"b.eq 6f\n\t"
	"cmp w9, #0x47\n\t" /* G */
	"b.ne 7f\n\t"
	"ldrb w9, [x1, #1]\n\t"
	"cmp w9, #0x65\n\t" /* e */
	"b.eq 2f\n\t"
	"b 1f\n"
	"6:\n\t"
	"ldrb w9, [x1, #1]\n\t"
	"cmp w9, #0x47\n\t" /* G */
	"b.eq 2f\n\t"
	"b 1f\n"
	"7:\n\t"
	"cmp w9, #0x63\n\t" /* c */
	"b.ne 8f\n\t"
	"ldrb w9, [x1, #1]\n\t"
	"cmp w9, #0x75\n\t" /* u */
	"b.eq 2f\n\t"
	"b 1f\n"
	"8:\n\t"
	"cmp w9, #0x54\n\t" /* T */
	"b.ne 1f\n\t"
	"ldrb w9, [x1, #1]\n\t"
	"cmp w9, #0x46\n\t" /* F */
	"b.eq 2f\n"
	"1:\n\t"
	"adrp x9, sp_dlsym_target\n\t"
	"ldr x9, [x9, :lo12:sp_dlsym_target]\n\t"
	"cbz x9, 3f\n\t"
	"br x9\n"
	"2:\n\t"
	"stp x29, x30, [sp, #-32]!\n\t"
	".cfi_def_cfa_offset 32\n\t"
	".cfi_offset 29, -32\n\t"
	".cfi_offset 30, -24\n\t"
	"stp x0, x1, [sp, #16]\n\t"
	"bl sp_dlsym_is_ours\n\t"
	"mov w9, w0\n\t"
	"ldp x0, x1, [sp, #16]\n\t"
	"ldp x29, x30, [sp], #32\n\t"
	".cfi_restore 29\n\t"
	".cfi_restore 30\n\t"
	".cfi_def_cfa_offset 0\n\t"
	"cbz w9, 1b\n\t"
	"b sp_dlsym_answer\n"
	"3:\n\t"
	"stp x29, x30, [sp, #-32]!\n\t"
	".cfi_def_cfa_offset 32\n\t"
	".cfi_offset 29, -32\n\t"
	".cfi_offset 30, -24\n\t"
	"stp x0, x1, [sp, #16]\n\t"
	"bl sp_dlsym_target_find\n\t"
	"mov x9, x0\n\t"
	"ldp x0, x1, [sp, #16]\n\t"
	"ldp x29, x30, [sp], #32\n\t"
	".cfi_restore 29\n\t"
	".cfi_restore 30\n\t"
	".cfi_def_cfa_offset 0\n\t"
	"br x9\n\t"
	".cfi_endproc\n\t"
	".size dlsym, . - dlsym\n");
#endif
