/*
 * Functions that a lookup gave to the host. Such a function has a wrapper for each address, since several copies of
 * a library may be loaded and each call must reach the copy that was asked: a place holds the address, the wrapper
 * that belongs to it is given out. Async-signal-safe but for the dynamic linker's lock.
 */
#ifndef STAGEPROF_PRELOAD_FOUND_H
#define STAGEPROF_PRELOAD_FOUND_H

/* 1 where the place holds `function`: from now on, or already. One whose library was closed is taken over. */
int sp_found_take(void **place, void *function);

/* 1 where a loaded object has the address. */
int sp_found_is_loaded(const void *address);

#endif
