/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/python_find.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scripts/sampler/other_memory.h"

#define FILES_MAX 16u /* files of CPython that a run may have mapped */
#define LINE_BYTES (PATH_MAX + 256)

/* The symbols of a file. Offsets from the file's first mapping; 0: no such symbol. */
struct python_file {
	dev_t device;
	ino_t inode;
	uint64_t runtime, code_type, version_at;
	uint32_t version_least; /* by functions that it has; 0: it has none of them */
};

/* Functions that came with a version, in the order of versions. */
static const struct version_sign {
	const char *name;
	uint32_t version;
} version_signs[] = {
	{"PyCode_NewWithPosOnlyArgs", 0x308},
	{"PyFrame_GetBack", 0x309},
	{"PyIter_Send", 0x30A},
};

static struct python_file known[FILES_MAX];
static unsigned known_count;
static uint32_t families;

static void take_symbol(struct python_file *file, const char *name, uint64_t at)
{
	if (!name)
		return;
	if (strcmp(name, "_PyRuntime") == 0)
		file->runtime = at;
	else if (strcmp(name, "PyCode_Type") == 0)
		file->code_type = at;
	else if (strcmp(name, "Py_Version") == 0)
		file->version_at = at;
	for (unsigned i = 0; i < sizeof(version_signs) / sizeof(version_signs[0]); i++)
		if (version_signs[i].version > file->version_least &&
		    strcmp(name, version_signs[i].name) == 0)
			file->version_least = version_signs[i].version;
}

/* The lowest mapped address, rounded to its page. */
static uint64_t first_address(Elf *elf)
{
	uint64_t least = UINT64_MAX;
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;

		if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_LOAD &&
		    part.p_vaddr < least)
			least = part.p_vaddr;
	}
	return least == UINT64_MAX ? 0 : least & ~UINT64_C(4095);
}

static void read_section(struct python_file *file, Elf *elf, Elf_Scn *section, uint64_t first)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!gelf_getshdr(section, &header) || !header.sh_entsize ||
	    (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
		return;
	data = elf_getdata(section, NULL);
	for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_UNDEF)
			take_symbol(file, elf_strptr(elf, header.sh_link, symbol.st_name),
				    symbol.st_value - first);
	}
}

static void read_symbols(struct python_file *file, int fd)
{
	Elf_Scn *section = NULL;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		uint64_t first = first_address(elf);

		while (!file->runtime && (section = elf_nextscn(elf, section)))
			read_section(file, elf, section, first);
	}
	elf_end(elf);
}

/* NULL: it cannot be opened, or there are too many. */
static const struct python_file *file_of(const char *path)
{
	struct python_file *file = &known[known_count];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	for (unsigned i = 0; i < known_count; i++)
		if (known[i].device == st.st_dev && known[i].inode == st.st_ino) {
			close(fd);
			return &known[i];
		}
	if (known_count == FILES_MAX) {
		close(fd);
		return NULL;
	}
	*file = (struct python_file){.device = st.st_dev, .inode = st.st_ino};
	read_symbols(file, fd);
	close(fd);
	known_count++;
	return file;
}

/* "…/libpython3.9.so.1.0", "…/python3.9": for versions before Py_Version. */
static uint32_t version_of_name(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *at = strstr(name ? name : path, "python3.");

	return at ? 0x300u | ((uint32_t)strtoul(at + strlen("python3."), NULL, 10) & 0xFF) : 0;
}

static bool try_file(struct sp_sampled_python *ret, pid_t pid, uint64_t begin, const char *mapped)
{
	char path[LINE_BYTES + 64];
	const struct python_file *file;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, mapped);
	file = file_of(path);
	if (!file || !file->runtime || !file->code_type)
		return false;
	ret->runtime = begin + file->runtime;
	ret->code_type = begin + file->code_type;
	ret->version = file->version_at
			       ? (uint32_t)(sp_other_word(pid, begin + file->version_at) >> 16)
			       : version_of_name(mapped);
	if (!ret->version)
		ret->version = file->version_least;
	return true;
}

/* The file's first mapping, of the program itself or of a library of Python. */
static bool is_candidate(const char *path, const char *program, uint64_t offset)
{
	const char *name = strrchr(path, '/');

	return name && offset == 0 && (strcmp(path, program) == 0 || strstr(name, "libpython"));
}

/* The name of a program or of a library of a Python, CPython or not. */
static bool is_of_python(const char *path, const char *program)
{
	const char *name = strrchr(path, '/');
	bool is_program = strcmp(path, program) == 0;

	return name && (strstr(name, "libpypy") ||
			(is_program && (strncmp(name, "/python", strlen("/python")) == 0 ||
					strncmp(name, "/pypy", strlen("/pypy")) == 0)));
}

bool sp_python_is_foreign(pid_t pid)
{
	char line[LINE_BYTES], path[64], program[PATH_MAX] = "";
	bool ret = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, program, sizeof(program) - 1) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && !ret && fgets(line, sizeof(line), maps)) {
		const char *at = strchr(line, '/');

		line[strcspn(line, "\n")] = 0;
		ret = at && is_of_python(at, program);
	}
	if (maps)
		fclose(maps);
	return ret;
}

static bool search_maps(struct sp_sampled_python *ret, pid_t pid, FILE *maps, const char *program)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), maps)) {
		uint64_t begin, offset;
		int path_at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %n", &begin, &offset, &path_at) == 2 &&
		    path_at && line[path_at] == '/' &&
		    is_candidate(line + path_at, program, offset) &&
		    try_file(ret, pid, begin, line + path_at))
			return true;
	}
	return false;
}

int sp_sampled_python_find(struct sp_sampled_python *ret, pid_t pid)
{
	char path[64], program[PATH_MAX];
	FILE *maps;
	bool found;
	uint64_t word;
	ssize_t n;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, program, sizeof(program) - 1);
	if (n < 0)
		return errno == EACCES ? -EPERM : -ESRCH;
	program[n] = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == EACCES || errno == EPERM ? -EPERM : -ESRCH;
	found = search_maps(ret, pid, maps, program);
	fclose(maps);
	if (!found)
		return -ENOENT;
	r = sp_other_read(pid, ret->runtime, &word, sizeof(word));
	if (r == -EPERM || r == -ENOSYS)
		return r;
	ret->family = ++families;
	return sp_python_layout_find(&ret->layout, pid, ret->runtime, ret->version) ? 0 : -ENOTSUP;
}
