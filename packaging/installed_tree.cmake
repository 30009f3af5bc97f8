# SPDX-License-Identifier: Apache-2.0
# CPack runs this on the installed tree before it packs, for the forms that a distribution wants.
# Files get the time SOURCE_DATE_EPOCH, so the same commit makes the same package.
set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
if(NOT CPACK_GENERATOR STREQUAL DEB)
	set(tree ${CPACK_TEMPORARY_DIRECTORY})
endif()
file(GLOB share LIST_DIRECTORIES true ${tree}/usr/share ${tree}/*/usr/share)
set(doc ${share}/doc/stageprof)

function(compress file)
	execute_process(COMMAND gzip --best --no-name --force ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(GLOB pages ${share}/man/man1/*.1 ${share}/man/zh_CN/man1/*.1)
foreach(page IN LISTS pages)
	compress(${page})
endforeach()
if(CPACK_GENERATOR STREQUAL DEB)
	file(RENAME ${doc}/LICENSE ${doc}/copyright)
	configure_file(${CPACK_STAGEPROF_SOURCE}/packaging/deb/copyright.in ${doc}/copyright
		COPYONLY)
	file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
	compress(${doc}/changelog)
	string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
	file(WRITE ${doc}/changelog.Debian "stageprof \
(${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n\
  * See changelog.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
	compress(${doc}/changelog.Debian)
	set(zsh ${share}/zsh)
	file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
endif()
