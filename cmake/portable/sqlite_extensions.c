/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite's static archive registers full-text search and R-trees in each connection. A portable
 * tool makes tables of another kind alone: these empty registrations keep 250 KB out of it, because
 * the linker takes no member of an archive for a name that it has.
 */
#include <sqlite3.h>

#define WITHOUT(extension)                                                                         \
	int sqlite3##extension##Init(sqlite3 *database);                                           \
	int sqlite3##extension##Init(sqlite3 *database)                                            \
	{                                                                                          \
		(void)database;                                                                    \
		return SQLITE_OK;                                                                  \
	}

WITHOUT(Fts3)
WITHOUT(Fts5)
WITHOUT(Rtree)
