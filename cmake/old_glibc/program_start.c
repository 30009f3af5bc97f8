/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since glibc 2.34 the start code of a program leaves its constructors to libc, and an older libc
 * expects that the program runs them: --wrap puts this between the two.
 */
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

int __real___libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
			     void (*constructors)(int, char **, char **), void (*destructors)(void),
			     void (*linker_end)(void), void *stack_end);
int __wrap___libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
			     void (*constructors)(int, char **, char **), void (*destructors)(void),
			     void (*linker_end)(void), void *stack_end);

extern void (*const __init_array_start[])(int, char **, char **) HIDDEN;
extern void (*const __init_array_end[])(int, char **, char **) HIDDEN;

static void constructors_run(int argc, char **argv, char **environment)
{
	ptrdiff_t count = __init_array_end - __init_array_start;

	for (ptrdiff_t i = 0; i < count; i++)
		__init_array_start[i](argc, argv, environment);
}

int __wrap___libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
			     void (*constructors)(int, char **, char **), void (*destructors)(void),
			     void (*linker_end)(void), void *stack_end)
{
	return __real___libc_start_main(begin, argc, argv,
					constructors ? constructors : constructors_run, destructors,
					linker_end, stack_end);
}
