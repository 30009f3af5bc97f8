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

/* The first two letters of the names for which the stub calls sp_dlsym_is_ours(). */
#define BEGINNINGS(IS)                                                                             \
	IS("0x7563") /* cu */                                                                      \
	IS("0x636e") /* nc */                                                                      \
	IS("0x766e") /* nv */                                                                      \
	IS("0x6968") /* hi */                                                                      \
	IS("0x4758") /* XG */                                                                      \
	IS("0x474c") /* LG */                                                                      \
	IS("0x6547") /* Ge */                                                                      \
	IS("0x4654") /* TF */

/* clang-format breaks strings between macros. */
/* clang-format off */
#if defined(__x86_64__)
#define IS(letters)                                                                                \
	"cmpw $" letters ", %ax\n\t"                                                               \
	"je 2f\n\t"
/* A call in between: the host's two arguments stay. */
#define CALL(function)                                                                             \
	"pushq %rdi\n\t"                                                                           \
	".cfi_adjust_cfa_offset 8\n\t"                                                             \
	"pushq %rsi\n\t"                                                                           \
	".cfi_adjust_cfa_offset 8\n\t"                                                             \
	"subq $8, %rsp\n\t"                                                                        \
	".cfi_adjust_cfa_offset 8\n\t"                                                             \
	"call " function "\n\t"                                                                    \
	"addq $8, %rsp\n\t"                                                                        \
	".cfi_adjust_cfa_offset -8\n\t"                                                            \
	"popq %rsi\n\t"                                                                            \
	".cfi_adjust_cfa_offset -8\n\t"                                                            \
	"popq %rdi\n\t"                                                                            \
	".cfi_adjust_cfa_offset -8\n\t"
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"testq %rsi, %rsi\n\t"
	"jz 1f\n\t"
	"cmpb $0, (%rsi)\n\t" /* the second letter may be on a page that is not there */
	"je 1f\n\t"
	"movzwl (%rsi), %eax\n\t"
	BEGINNINGS(IS)
	"1:\n\t"
	"movq sp_dlsym_target(%rip), %rax\n\t"
	"testq %rax, %rax\n\t"
	"jz 3f\n\t"
	"jmp *%rax\n"
	"2:\n\t"
	CALL("sp_dlsym_is_ours")
	"testl %eax, %eax\n\t"
	"jz 1b\n\t"
	"jmp sp_dlsym_answer\n"
	"3:\n\t"
	CALL("sp_dlsym_target_find")
	"jmp *%rax\n\t"
	".cfi_endproc\n\t"
	".size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
#define IS(letters)                                                                                \
	"mov w10, #" letters "\n\t"                                                                \
	"cmp w9, w10\n\t"                                                                          \
	"b.eq 2f\n\t"
/* A call in between: the host's two arguments stay, and the result is in x9. */
#define CALL(function)                                                                             \
	"stp x29, x30, [sp, #-32]!\n\t"                                                            \
	".cfi_def_cfa_offset 32\n\t"                                                               \
	".cfi_offset 29, -32\n\t"                                                                  \
	".cfi_offset 30, -24\n\t"                                                                  \
	"stp x0, x1, [sp, #16]\n\t"                                                                \
	"bl " function "\n\t"                                                                      \
	"mov x9, x0\n\t"                                                                           \
	"ldp x0, x1, [sp, #16]\n\t"                                                                \
	"ldp x29, x30, [sp], #32\n\t"                                                              \
	".cfi_restore 29\n\t"                                                                      \
	".cfi_restore 30\n\t"                                                                      \
	".cfi_def_cfa_offset 0\n\t"
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	"dlsym:\n\t"
	".cfi_startproc\n\t"
	"cbz x1, 1f\n\t"
	"ldrb w9, [x1]\n\t" /* the second letter may be on a page that is not there */
	"cbz w9, 1f\n\t"
	"ldrh w9, [x1]\n\t"
	BEGINNINGS(IS)
	"1:\n\t"
	"adrp x9, sp_dlsym_target\n\t"
	"ldr x9, [x9, :lo12:sp_dlsym_target]\n\t"
	"cbz x9, 3f\n\t"
	"br x9\n"
	"2:\n\t"
	CALL("sp_dlsym_is_ours")
	"cbz w9, 1b\n\t"
	"b sp_dlsym_answer\n"
	"3:\n\t"
	CALL("sp_dlsym_target_find")
	"br x9\n\t"
	".cfi_endproc\n\t"
	".size dlsym, . - dlsym\n");
/* clang-format on */
#endif
