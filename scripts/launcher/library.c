/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/library.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "analyzer/text/version.h"
#include "scripts/launcher/launcher_error.h"

#define NOTE_NAME "stageprof"

static void read_notes(struct sp_library_file *library, Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (off_t)header->p_offset, header->p_filesz,
					      header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, next, name, text;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &text)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_namesz == sizeof(NOTE_NAME) &&
		    memcmp(bytes + name, NOTE_NAME, sizeof(NOTE_NAME)) == 0)
			snprintf(library->version, sizeof(library->version), "%.*s",
				 (int)note.n_descsz, bytes + text);
		at = next;
	}
}

static void read_elf(struct sp_library_file *library, Elf *elf)
{
	GElf_Ehdr header;
	size_t count = 0;

	library->is_elf = elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header);
	if (!library->is_elf)
		return;
	library->is_of_this_machine =
		header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == SP_ELF_MACHINE;
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;

		if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_NOTE)
			read_notes(library, elf, &part);
	}
}

void sp_library_look(struct sp_library_file *ret, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = NULL;

	*ret = (struct sp_library_file){.is_elf = false};
	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		read_elf(ret, elf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

bool sp_library_is_usable(const char *path)
{
	struct sp_library_file library;
	char why[128];

	/* Both separate entries of LD_PRELOAD, and ld.so(8) knows no escape. */
	if (strpbrk(path, " :")) {
		sp_error_print(SP_ERROR_library_unnameable, path,
			       N_("LD_PRELOAD cannot contain a path with a space or a colon"),
			       NULL);
		return false;
	}
	sp_library_look(&library, path);
	if (!library.is_of_this_machine) {
		sp_error_print(SP_ERROR_library_foreign, path,
			       library.is_elf ? N_("it is built for another processor")
					      : N_("it is no library"),
			       NULL);
		return false;
	}
	if (strcmp(library.version, sp_version_text()) != 0) {
		snprintf(why, sizeof(why), _("it is of stageprof %s, and this program is %s"),
			 library.version[0] ? library.version : "?", sp_version_text());
		sp_error_print(SP_ERROR_library_version, path, why, NULL);
	}
	return true;
}
