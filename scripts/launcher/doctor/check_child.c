/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the Python child: its parts, and those out of sight.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/doctor/doctor_context.h"

#define CHUNK_BYTES (1u << 20)
#define OVERLAP_BYTES 64u /* longer than every text below */

static bool is_no_python(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	if (context->properties)
		return false;
	sp_check_set(result, SP_CHECK_SKIP, NULL,
		     context->is_probed && context->program.is_python ? _("the child reported "
									  "nothing")
								      : _("no Python child was "
									  "run"));
	return true;
}

/* "group\tbound\tdetail" among the coverage of the summary, as JSON writes it. */
static bool is_bound(const struct sp_doctor_context *context, const char *group)
{
	char text[128];

	snprintf(text, sizeof(text), "\"%s\\u0009bound\\u0009", group);
	return context->summary && strstr(context->summary, text);
}

void sp_check_python(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char version[256], path[256];

	if (is_no_python(context, result))
		return;
	if (!sp_doctor_context_property(context, "python", version) ||
	    !sp_doctor_context_property(context, "executable", path))
		sp_check_set(result, SP_CHECK_SKIP, NULL, "the child reported no version");
	else if (is_bound(context, "python"))
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "Python %s, %s: ranges and known calls are recorded", version, path);
	else
		sp_check_set(result, SP_CHECK_WARN,
			     "use CPython 3.8 to 3.13, or accept a report without ranges and steps",
			     "Python %s, %s: not supported; files, decoding and CUDA are recorded, "
			     "ranges are not",
			     version, path);
}

void sp_check_torch(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char version[256], paddle[256];

	if (is_no_python(context, result))
		return;
	if (sp_doctor_context_property(context, "torch fails", version))
		sp_check_set(result, SP_CHECK_WARN, "fix the import first",
			     "PyTorch cannot be imported: %s", version);
	else if (!sp_doctor_context_property(context, "torch", version))
		sp_check_set(result, SP_CHECK_SKIP, NULL, "this interpreter has no PyTorch%s",
			     sp_doctor_context_property(context, "paddle", paddle) ? _("; it has "
										       "Paddle")
										   : "");
	else if (is_bound(context, "torch-markers"))
		sp_check_set(result, SP_CHECK_OK, NULL, "PyTorch %s: its markers are recorded",
			     version);
	else
		sp_check_set(result, SP_CHECK_WARN,
			     "steps still come from wrapped calls; if they do not, report it with "
			     "this version",
			     "PyTorch %s: its markers are not available", version);
}

/* Appends to a list for people; an item that does not fit is left out. */
static void append(char *text, size_t bytes, const char *what, const char *where)
{
	if (strlen(text) + strlen(what) + strlen(where) + sizeof(", ") > bytes)
		return;
	strcat(strcat(strcat(text, text[0] ? ", " : ""), what), where);
}

/* The values of all properties of this name, in one list. */
static void list_properties(const struct sp_doctor_context *context, const char *name, char *ret,
			    size_t ret_bytes)
{
	size_t head = strlen(name);
	const char *next;

	*ret = '\0';
	for (const char *at = context->properties; at && *at; at = next ? next + 1 : NULL) {
		next = strchr(at, '\n');
		if (strncmp(at, name, head) == 0 && at[head] == '\t') {
			char value[128];

			snprintf(value, sizeof(value), "%.*s", (int)strcspn(at + head + 1, "\n"),
				 at + head + 1);
			append(ret, ret_bytes, value, "");
		}
	}
}

void sp_check_frameworks(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char imported[512], installed[512];

	if (is_no_python(context, result))
		return;
	list_properties(context, "imported framework", imported, sizeof(imported));
	list_properties(context, "installed framework", installed, sizeof(installed));
	if (*imported)
		sp_check_set(result, SP_CHECK_WARN,
			     "name the function that makes a step in STAGEPROF_FUNCTIONS; reads, "
			     "decoding, waits and processors are recorded",
			     "the script imports %s: no steps and no verdict on them", imported);
	else if (*installed)
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "none in the script; of those installed, steps are not recorded of: "
			     "%s",
			     installed);
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "no other framework is installed");
}

static bool has_stage(const struct sp_doctor_context *context, const char *stage)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"stage\":\"%s\"", stage);
	return context->summary && strstr(context->summary, text);
}

void sp_check_jpeg(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char version[256];

	if (is_no_python(context, result))
		return;
	if (!sp_doctor_context_property(context, "decoded", version))
		sp_check_set(result, SP_CHECK_SKIP, NULL,
			     "this interpreter has no Pillow to try it with");
	else if (has_stage(context, "jpeg_decode"))
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "an image that Pillow decoded is in the trace");
	else
		sp_check_set(result, SP_CHECK_WARN,
			     "install Pillow's wheel, or one linked with a shared libjpeg",
			     "Pillow's decoding is not recorded: it contains its own libjpeg");
}

/* A text that each library contains, and the function that its shared form exports. */
static const struct {
	const char *text, *function, *name;
} inside[] = {
	{"Not a JPEG file: starts with", "jpeg_read_scanlines", "libjpeg in "},
	{"Not a PNG file", "png_read_info", "libpng in "},
	{"cudaErrorMissingConfiguration", "cudaLaunchKernel", "the CUDA runtime in "},
};
#define INSIDE_COUNT (sizeof(inside) / sizeof(inside[0]))

/* The bits of `inside` whose text is in the section. */
static unsigned find_texts(int fd, const GElf_Shdr *section)
{
	char *chunk = malloc(CHUNK_BYTES + OVERLAP_BYTES);
	unsigned found = 0;

	for (uint64_t at = 0; chunk && at < section->sh_size; at += CHUNK_BYTES) {
		uint64_t left = section->sh_size - at;
		size_t want = left < CHUNK_BYTES + OVERLAP_BYTES ? (size_t)left
								 : CHUNK_BYTES + OVERLAP_BYTES;
		ssize_t n = pread(fd, chunk, want, (off_t)(section->sh_offset + at));

		for (size_t i = 0; n > 0 && i < INSIDE_COUNT; i++)
			if (!(found & 1u << i) &&
			    memmem(chunk, (size_t)n, inside[i].text, strlen(inside[i].text)))
				found |= 1u << i;
	}
	free(chunk);
	return found;
}

/* The bits of `inside` whose function the object exports: the object is then the shared library
 * itself. */
static unsigned find_functions(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	unsigned found = 0;
	GElf_Sym symbol;

	for (int i = 0; data && header->sh_entsize && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		for (size_t k = 0; name && symbol.st_shndx != SHN_UNDEF && k < INSIDE_COUNT; k++)
			if (strcmp(name, inside[k].function) == 0)
				found |= 1u << k;
	}
	return found;
}

static unsigned find_inside(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	unsigned texts = 0, functions = 0;
	Elf_Scn *section = NULL;
	size_t names = 0;

	if (elf && elf_getshdrstrndx(elf, &names) == 0)
		while ((section = elf_nextscn(elf, section))) {
			GElf_Shdr header;
			const char *name = gelf_getshdr(section, &header)
						   ? elf_strptr(elf, names, header.sh_name)
						   : NULL;

			if (name && strcmp(name, ".rodata") == 0)
				texts |= find_texts(fd, &header);
			else if (name && header.sh_type == SHT_DYNSYM)
				functions |= find_functions(elf, section, &header);
		}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return texts & ~functions;
}

void sp_check_hidden(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char text[900] = "", path[PATH_MAX];

	if (is_no_python(context, result))
		return;
	elf_version(EV_CURRENT);
	for (const char *at = context->properties; (at = strstr(at, "object\t")); at += 7) {
		const char *name;
		unsigned found;

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
		name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		found = find_inside(path);
		for (size_t i = 0; i < INSIDE_COUNT; i++)
			if (found & 1u << i)
				append(text, sizeof(text), inside[i].name, name);
	}
	if (text[0])
		sp_check_set(result, SP_CHECK_WARN,
			     "the report shows their work as the Python calls around it, where "
			     "those are known (stageprof-report ranges)",
			     "not recorded: %s", text);
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "none in the imported modules");
}

/*
 * "object=PATH [0]" is followed by lines "PID:\t scope N: OBJECT...", the lookup scopes in order. A
 * library linked with -Bsymbolic comes first, alone, and serves its own names; a library opened
 * with RTLD_DEEPBIND comes with all of its dependencies before the preloaded libraries. A block
 * that does not begin at 0 lists additions to an older library.
 */
static bool is_deepbound(const char *path, const char *line)
{
	char scope[32];

	for (int i = 0; line; i++) {
		const char *end = line + strcspn(line, "\n"), *list, *ours;

		snprintf(scope, sizeof(scope), " scope %d: ", i);
		list = strstr(line, scope);
		if (!list || list > end)
			return false;
		list += strlen(scope);
		ours = strstr(list, "libstageprof.so");
		if (ours && ours < end)
			return false;
		if ((size_t)(end - list) != strlen(path) || strncmp(list, path, strlen(path)) != 0)
			return true;
		line = *end ? end + 1 : NULL;
	}
	return false;
}

void sp_check_deepbind(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char text[900] = "";

	if (!context->scopes || !*context->scopes) {
		sp_check_set(result, SP_CHECK_SKIP, NULL,
			     "no child reported where it looks names up");
		return;
	}
	for (const char *at = context->scopes; (at = strstr(at, "object=")); at += 7) {
		const char *end = strchr(at, '\n');
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(at + 7, " \n"), at + 7);
		if (end && !strstr(text, path) && is_deepbound(path, end + 1))
			append(text, sizeof(text), path, "");
	}
	if (text[0])
		sp_check_set(result, SP_CHECK_WARN,
			     "load it by dlopen without RTLD_DEEPBIND (sys.setdlopenflags)",
			     "calls of these libraries are not recorded: %s", text);
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "none");
}
