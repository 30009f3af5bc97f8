/*
 * Symbols that loaded objects define, read from their dynamic sections (System V ABI, chapter 5; GNU hash
 * tables as glibc's linker reads them). For what must not go through dlsym. No allocation, errno is kept;
 * the objects must stay loaded meanwhile.
 */
#ifndef STAGEPROF_PRELOAD_SYMBOLS_H
#define STAGEPROF_PRELOAD_SYMBOLS_H

/* What the first object after ours in the order of loading defines under this name, or NULL. */
void *sp_symbol_after_us(const char *name);

/* What this library itself exports under this name, or NULL. Async-signal-safe. */
void *sp_symbol_of_ours(const char *name);

#endif
