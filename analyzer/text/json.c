/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/json.h"

#include <inttypes.h>
#include <string.h>
#include <utf8proc.h>

static void put_string(FILE *f, const char *text, size_t bytes)
{
	putc('"', f);
	while (bytes) {
		utf8proc_int32_t c;
		utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text,
						      (utf8proc_ssize_t)bytes, &c);

		if (n <= 0) {
			fputs("\\ufffd", f);
			n = 1;
		} else if (c == '"' || c == '\\') {
			fprintf(f, "\\%c", (char)c);
		} else if (c < 0x20 || c == '<' || (c >= 0x7F && c < 0xA0) || c == 0x61C ||
			   (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
			   (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF) {
			fprintf(f, "\\u%04x", (unsigned)c);
		} else {
			fwrite(text, 1, (size_t)n, f);
		}
		text += n;
		bytes -= (size_t)n;
	}
	putc('"', f);
}

static void put_key(struct sp_json *j, const char *key)
{
	if (j->has_member)
		putc(',', j->file);
	if (j->depth && j->depth <= 2)
		fputs("\n", j->file);
	j->has_member = true;
	if (key) {
		put_string(j->file, key, strlen(key));
		putc(':', j->file);
	}
}

void sp_json_open(struct sp_json *j, const char *key, char bracket)
{
	put_key(j, key);
	putc(bracket, j->file);
	j->depth++;
	j->has_member = false;
}

void sp_json_close(struct sp_json *j, char bracket)
{
	putc(bracket, j->file);
	j->depth--;
	j->has_member = true;
	if (j->depth == 0)
		putc('\n', j->file);
}

void sp_json_string(struct sp_json *j, const char *key, const char *text, size_t bytes)
{
	put_key(j, key);
	put_string(j->file, text, bytes);
}

void sp_json_count(struct sp_json *j, const char *key, uint64_t n)
{
	put_key(j, key);
	fprintf(j->file, "%" PRIu64, n);
}

void sp_json_signed(struct sp_json *j, const char *key, int64_t n)
{
	put_key(j, key);
	fprintf(j->file, "%" PRId64, n);
}

void sp_json_us(struct sp_json *j, const char *key, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	put_key(j, key);
	fprintf(j->file, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", n / 1000, (unsigned)(n % 1000));
}

void sp_json_share(struct sp_json *j, const char *key, double x)
{
	put_key(j, key);
	fprintf(j->file, "%.6f", x);
}

void sp_json_bool(struct sp_json *j, const char *key, bool b)
{
	put_key(j, key);
	fputs(b ? "true" : "false", j->file);
}

void sp_json_null(struct sp_json *j, const char *key)
{
	put_key(j, key);
	fputs("null", j->file);
}
