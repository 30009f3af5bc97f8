/* SPDX-License-Identifier: Apache-2.0 */
/* Macros of headers that cppcheck does not read, in the sense of theirs. */
#define ElfW(type) Elf64_##type
#define HASH_ITER(hh, head, el, next) for ((el) = (next) = (head); (el); (el) = (next))
