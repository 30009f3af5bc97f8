/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a small program by address, against nm;
 * and of the same program with bytes changed. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/symbols/symbolizer.h"
#include "tests/unit/common/suite.h"

#define FUNCTIONS_MAX 256u
#define PROGRAM_BYTES_MAX (64u << 10)
#define CHANGED 4000

struct function {
	uint64_t begin, bytes;
	char name[64];
};

static struct function known[FUNCTIONS_MAX];
static size_t known_count;
static uint8_t build[64];
static uint32_t build_bytes;
static struct sp_program_file program = {SP_EXAMPLE, build, 0, 0};

static FILE *run(const char *command, const char *path)
{
	char line[PATH_MAX + 64];
	FILE *said;

	snprintf(line, sizeof(line), "LC_ALL=C %s '%s'", command, path);
	said = popen(line, "r");
	ck_assert_ptr_nonnull(said);
	return said;
}

static void know(const char *nm, const char *path)
{
	FILE *said = run(nm, path);
	char line[256], kind;

	known_count = 0;
	while (fgets(line, sizeof(line), said)) {
		struct function *f = &known[known_count];

		if (known_count < FUNCTIONS_MAX &&
		    sscanf(line, "%lx %lx %c %63s", &f->begin, &f->bytes, &kind, f->name) == 4 &&
		    f->bytes && strchr("TtWwi", kind))
			known_count++;
	}
	ck_assert_int_eq(pclose(said), 0);
	ck_assert_uint_gt(known_count, 0);
}

static void know_build(void)
{
	FILE *said = run("readelf -n", SP_EXAMPLE);
	char line[256];
	const char *at;

	while (fgets(line, sizeof(line), said))
		if ((at = strstr(line, "Build ID: ")))
			for (at += 10; sscanf(at, "%2hhx", &build[build_bytes]) == 1; at += 2)
				build_bytes++;
	ck_assert_int_eq(pclose(said), 0);
	ck_assert_uint_eq(build_bytes, 20);
	program.build_bytes = build_bytes;
}

static int is_at(const char *name, uint64_t at)
{
	for (size_t i = 0; i < known_count; i++)
		if (at - known[i].begin < known[i].bytes && strcmp(known[i].name, name) == 0)
			return 1;
	return 0;
}

static int is_any_at(uint64_t at)
{
	for (size_t i = 0; i < known_count; i++)
		if (at - known[i].begin < known[i].bytes)
			return 1;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct sp_symbol *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

struct names {
	struct sp_symbol wanted[4 * FUNCTIONS_MAX];
	size_t n, found;
	char *is_found;
};

static int find(const struct sp_program_file *file, struct names *names,
		void (*found)(void *context, size_t i, const char *name))
{
	struct sp_symbol_query query = {names->wanted, names->n, found, names};

	return sp_symbols_find(file, &query);
}

static void want_edges(struct names *names)
{
	names->n = names->found = 0;
	for (size_t i = 0; i < known_count; i++) {
		const uint64_t begin = known[i].begin, end = begin + known[i].bytes;
		const uint64_t at[] = {begin, begin + known[i].bytes / 2, end - 1, end};

		for (size_t k = 0; k < 4; k++)
			names->wanted[names->n++] = (struct sp_symbol){.at = at[k]};
	}
	qsort(names->wanted, names->n, sizeof(names->wanted[0]), compare);
}

static void check_name(void *context, size_t i, const char *name)
{
	struct names *names = context;

	ck_assert_msg(is_at(name, names->wanted[i].at), "%s is not at %lx", name,
		      names->wanted[i].at);
	names->is_found[i] = 1;
}

static void expect_known(const char *path)
{
	static struct names names;
	static char is_found[4 * FUNCTIONS_MAX];
	struct sp_program_file file = program;

	file.path = path;
	memset(is_found, 0, sizeof(is_found));
	names.is_found = is_found;
	want_edges(&names);
	ck_assert_int_eq(find(&file, &names, check_name), 0);
	for (size_t i = 0; i < names.n; i++)
		ck_assert_int_eq(is_found[i], is_any_at(names.wanted[i].at));
}

START_TEST(all_functions_by_their_first_and_last_byte)
{
	know("nm -S --defined-only", SP_EXAMPLE);
	expect_known(SP_EXAMPLE);
}
END_TEST

START_TEST(of_a_stripped_program_what_it_exports)
{
	char folder[] = "/tmp/sp-symbols-XXXXXX", path[64], strip[128];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	snprintf(strip, sizeof(strip), "strip -o '%s'", path);
	ck_assert_int_eq(pclose(run(strip, SP_EXAMPLE)), 0);
	know("nm -DS --defined-only", path);
	expect_known(path);
	unlink(path);
	rmdir(folder);
}
END_TEST

static void must_not_be_called(void *context, size_t i, const char *name)
{
	(void)context;
	ck_abort_msg("%zu is called %s", i, name);
}

/* A refused file gives no names. */
static int refused(const struct sp_program_file *file)
{
	struct sp_symbol wanted = {.at = 0x1000};
	struct sp_symbol_query query = {&wanted, 1, must_not_be_called, NULL};

	return sp_symbols_find(file, &query);
}

START_TEST(another_build_has_no_names)
{
	struct sp_program_file file = program;

	file.build_bytes = 0;
	file.loaded_ns = UINT64_MAX;
	ck_assert_int_eq(refused(&file), -ESTALE);
	file = program;
	file.build_bytes--;
	ck_assert_int_eq(refused(&file), -ESTALE);
	build[3] ^= 1;
	ck_assert_int_eq(refused(&program), -ESTALE);
	build[3] ^= 1;
}
END_TEST

START_TEST(what_is_no_program)
{
	static const struct {
		const char *path;
		int r;
	} cases[] = {{"/nonexistent", -ENOENT},	  {"", -ENOENT},     {"relative", -ENOENT},
		     {"/dev/zero", -EINVAL},	  {"/tmp", -EINVAL}, {"/etc/passwd", -ENOEXEC},
		     {"/proc/self/mem", -ENOEXEC}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sp_program_file file = program;

		file.path = cases[i].path;
		ck_assert_int_eq(refused(&file), cases[i].r);
	}
}
END_TEST

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* Mostly at lengths and offsets: at the beginning, and in the section headers at the
 * end. */
static void change(uint8_t *bytes, size_t n)
{
	static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xFF};
	uint32_t changes = 1 + random_below(6);

	for (uint32_t i = 0; i < changes; i++) {
		uint32_t span = random_below(3), at = random_below(span == 0   ? 1024
								   : span == 1 ? 2560
									       : (uint32_t)n);

		bytes[span == 1 ? n - 1 - at : at] = random_below(2)
							     ? values[random_below(sizeof(values))]
							     : (uint8_t)random_below(256);
	}
}

static void count_name(void *context, size_t i, const char *name)
{
	struct names *names = context;

	ck_assert_uint_lt(i, names->n);
	ck_assert_uint_lt(strlen(name), SP_SYMBOL_BYTES);
	names->found++;
}

/* Any file is refused or named, in bounds. */
START_TEST(a_changed_program)
{
	static uint8_t whole[PROGRAM_BYTES_MAX], changed[PROGRAM_BYTES_MAX];
	static struct names names;
	int fd = open(SP_EXAMPLE, O_RDONLY), memory = memfd_create("changed", 0), named = 0,
	    unnamed = 0;
	ssize_t n = read(fd, whole, sizeof(whole));
	struct sp_program_file file = program;
	char path[64];

	ck_assert_int_gt(n, 2560);
	ck_assert_int_lt(n, (int)sizeof(whole));
	know("nm -S --defined-only", SP_EXAMPLE);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	file.path = path;
	for (int i = 0; i < CHANGED; i++) {
		size_t bytes = random_below(8) ? (size_t)n : random_below((uint32_t)n);

		memcpy(changed, whole, (size_t)n);
		change(changed, (size_t)n);
		ck_assert_int_eq(ftruncate(memory, (off_t)bytes), 0);
		ck_assert_int_eq(pwrite(memory, changed, bytes, 0), (int)bytes);
		want_edges(&names);
		if (find(&file, &names, count_name) == 0 && names.found)
			named++;
		else
			unnamed++;
	}
	ck_assert_int_gt(named, CHANGED / 10);
	ck_assert_int_gt(unnamed, CHANGED / 10);
	close(memory);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *all = tcase_create("all");

	tcase_add_unchecked_fixture(all, know_build, NULL);
	tcase_set_timeout(all, 120);
	tcase_add_test(all, all_functions_by_their_first_and_last_byte);
	tcase_add_test(all, of_a_stripped_program_what_it_exports);
	tcase_add_test(all, another_build_has_no_names);
	tcase_add_test(all, what_is_no_program);
	tcase_add_test(all, a_changed_program);
	suite_add_tcase(suite, all);
	return sp_suite_run(suite);
}
