/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite's static archive registers full-text search, R-trees, dates and statistics in each
 * connection. A portable tool makes ordinary tables, by json_tree alone: these empty registrations
 * keep 280 KB out of it, because the linker takes no member of an archive for a name that it has.
 */
#include <sqlite3.h>

#define WITHOUT(registration)                                                                      \
	int sqlite3##registration(sqlite3 *database);                                              \
	int sqlite3##registration(sqlite3 *database)                                               \
	{                                                                                          \
		(void)database;                                                                    \
		return SQLITE_OK;                                                                  \
	}

#define WITHOUT_FUNCTIONS(registration)                                                            \
	void sqlite3##registration(void);                                                          \
	void sqlite3##registration(void)                                                           \
	{                                                                                          \
	}

WITHOUT(DbstatRegister)
WITHOUT(Fts3Init)
WITHOUT(Fts5Init)
WITHOUT(RtreeInit)
WITHOUT(StmtVtabInit)
WITHOUT_FUNCTIONS(RegisterDateTimeFunctions)
