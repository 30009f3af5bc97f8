/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of loaded objects, read from their dynamic sections (System V ABI, chapter 5; GNU hash
 * tables as glibc's linker reads them), for lookups that must not go through dlsym. A name that has
 * several versions means its default one. No allocation, errno is kept; the objects must stay
 * loaded meanwhile.
 */
#ifndef STAGEPROF_PRELOAD_ELF_SYMBOLS_H
#define STAGEPROF_PRELOAD_ELF_SYMBOLS_H

/* The symbol of this name in the first object after ours in load order, else in the first object
 * before ours, or NULL. */
void *sp_symbol_after_us(const char *name);

/* The symbol of this name that this library exports, or NULL. Async-signal-safe. */
void *sp_symbol_of_ours(const char *name);

/* The symbol of this name in the object that the kernel maps into each process (vdso(7)), or NULL.
 * Async-signal-safe. */
void *sp_symbol_of_kernel(const char *name);

#endif
