# SPDX-License-Identifier: Apache-2.0
# The packages of CPack. scripts/package makes them: it configures with the prefix /usr, and hands
# on the maintainer and the time of the commit.
set(STAGEPROF_MAINTAINER "stageprof maintainers <root@localhost>" CACHE STRING
	"who made the packages: NAME <ADDRESS>")

set(CPACK_PACKAGE_NAME stageprof)
set(CPACK_PACKAGE_VENDOR stageprof)
set(CPACK_PACKAGE_CONTACT "${STAGEPROF_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler of the whole of a training job")
set(CPACK_PACKAGE_DESCRIPTION "stageprof records the file reads, image decoding, data loaders,
waits, GPU calls and steps of a training job, and tells what to change.
The job needs no edit: stageprof run -- python train.py")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/installed_tree.cmake)
# The scripts of the packages read this.
set(CPACK_STAGEPROF_SOURCE ${PROJECT_SOURCE_DIR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libunwind8)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/deb/triggers)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
set(CPACK_RPM_PACKAGE_SUGGESTS libunwind)
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
# The same commit makes the same package.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define _buildhost localhost
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1
	/usr/share/man/zh_CN /usr/share/man/zh_CN/man1 /usr/lib64 /usr/share/bash-completion
	/usr/share/bash-completion/completions /usr/share/fish
	/usr/share/fish/vendor_completions.d /usr/share/zsh /usr/share/zsh/site-functions)
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/ldconfig.sh)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/ldconfig.sh)
include(CPack)
