/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/cell.h"

#include <string.h>

struct sp_cell sp_cell_text(const char *text)
{
	return text ? sp_cell_bytes(text, strlen(text)) : sp_cell_null();
}

struct sp_cell sp_cell_bytes(const char *text, size_t bytes)
{
	return (struct sp_cell){.text = text, .bytes = bytes};
}

struct sp_cell sp_cell_ratio(uint64_t part, uint64_t whole)
{
	return whole ? sp_cell_share((double)part / (double)whole) : sp_cell_null();
}

struct sp_cell sp_cell_rate(uint64_t bytes, uint64_t ns)
{
	if (bytes == 0 || ns == 0)
		return sp_cell_null();
	return sp_cell_count((uint64_t)((unsigned __int128)bytes * 1000000000 / ns));
}
