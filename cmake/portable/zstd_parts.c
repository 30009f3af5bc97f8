/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of zstd's static archive that no program of stageprof runs, a third of it: matches are
 * looked for by the strategies fast and dfast, and no frame of a trace is older than zstd 0.8. The
 * linker takes no member of an archive for names that it has. The names are weak: where another
 * zstd asks for one that is missing here, its own member comes along and replaces all of these.
 * Each answer is a right one: a block without matches, or an error.
 */
#include <stddef.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WEAK __attribute__((weak))
#define UNSUPPORTED ((size_t)-ZSTD_error_parameter_unsupported)
#define TOO_OLD ((size_t)-ZSTD_error_version_unsupported)

/* A compressor of a block returns how many bytes at its end are in no match. */
#define WITHOUT_MATCHES(strategy)                                                                  \
	size_t ZSTD_compressBlock_##strategy(void *matches, void *sequences, void *repeated,       \
					     const void *block, size_t bytes);                     \
	WEAK size_t ZSTD_compressBlock_##strategy(void *matches, void *sequences, void *repeated,  \
						  const void *block, size_t bytes)                 \
	{                                                                                          \
		(void)matches, (void)sequences, (void)repeated, (void)block;                       \
		return bytes;                                                                      \
	}

/* zstd_lazy.o has these. */
#define WITHOUT_ROWS_TOO(strategy) WITHOUT_MATCHES(strategy) WITHOUT_MATCHES(strategy##_row)
#define WITHOUT_LAZY(strategy)                                                                     \
	WITHOUT_ROWS_TOO(strategy)                                                                 \
	WITHOUT_ROWS_TOO(strategy##_dictMatchState)                                                \
	WITHOUT_ROWS_TOO(strategy##_dedicatedDictSearch)                                           \
	WITHOUT_ROWS_TOO(strategy##_extDict)
WITHOUT_LAZY(greedy)
WITHOUT_LAZY(lazy)
WITHOUT_LAZY(lazy2)
WITHOUT_MATCHES(btlazy2)
WITHOUT_MATCHES(btlazy2_dictMatchState)
WITHOUT_MATCHES(btlazy2_extDict)

/* zstd_opt.o has these. */
WITHOUT_MATCHES(btopt)
WITHOUT_MATCHES(btopt_dictMatchState)
WITHOUT_MATCHES(btopt_extDict)
WITHOUT_MATCHES(btultra)
WITHOUT_MATCHES(btultra_dictMatchState)
WITHOUT_MATCHES(btultra_extDict)
WITHOUT_MATCHES(btultra2)

/* Tables of matches of these strategies, and of matches at a long distance (zstd_ldm.o). The
 * context asks for their sizes in any case: they have none. */
#define NOTHING(name)                                                                              \
	size_t ZSTD_##name(void);                                                                  \
	WEAK size_t ZSTD_##name(void)                                                              \
	{                                                                                          \
		return 0;                                                                          \
	}
NOTHING(dedicatedDictSearch_lazy_loadDictionary)
NOTHING(insertAndFindFirstIndex)
NOTHING(row_update)
NOTHING(updateTree)
NOTHING(ldm_adjustParameters)
NOTHING(ldm_fillHashTable)
NOTHING(ldm_getMaxNbSeq)
NOTHING(ldm_getTableSize)
NOTHING(ldm_skipRawSeqStoreBytes)
NOTHING(ldm_skipSequences)

#define ERROR(name, code)                                                                          \
	size_t name(void);                                                                         \
	WEAK size_t name(void)                                                                     \
	{                                                                                          \
		return code;                                                                       \
	}
ERROR(ZSTD_ldm_blockCompress, UNSUPPORTED)
ERROR(ZSTD_ldm_generateSequences, UNSUPPORTED)
ERROR(ZSTD_compressSuperBlock, UNSUPPORTED)

/* zstd_v05.o to zstd_v07.o have these. */
#define WITHOUT_VERSION(version)                                                                   \
	void *ZSTD##version##_createDCtx(void);                                                    \
	WEAK void *ZSTD##version##_createDCtx(void)                                                \
	{                                                                                          \
		return NULL;                                                                       \
	}                                                                                          \
	void *ZBUFF##version##_createDCtx(void);                                                   \
	WEAK void *ZBUFF##version##_createDCtx(void)                                               \
	{                                                                                          \
		return NULL;                                                                       \
	}                                                                                          \
	void ZSTD##version##_findFrameSizeInfoLegacy(const void *source, size_t bytes,             \
						     size_t *frame_bytes,                          \
						     unsigned long long *bound);                   \
	WEAK void ZSTD##version##_findFrameSizeInfoLegacy(const void *source, size_t bytes,        \
							  size_t *frame_bytes,                     \
							  unsigned long long *bound)               \
	{                                                                                          \
		(void)source, (void)bytes;                                                         \
		*frame_bytes = TOO_OLD;                                                            \
		*bound = ZSTD_CONTENTSIZE_ERROR;                                                   \
	}                                                                                          \
	ERROR(ZSTD##version##_freeDCtx, 0)                                                         \
	ERROR(ZSTD##version##_getFrameParams, TOO_OLD)                                             \
	ERROR(ZSTD##version##_decompress_usingDict, TOO_OLD)                                       \
	ERROR(ZBUFF##version##_freeDCtx, 0)                                                        \
	ERROR(ZBUFF##version##_decompressContinue, TOO_OLD)                                        \
	ERROR(ZBUFF##version##_decompressInitDictionary, TOO_OLD)
WITHOUT_VERSION(v05)
WITHOUT_VERSION(v06)
WITHOUT_VERSION(v07)
