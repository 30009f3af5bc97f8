# SPDX-License-Identifier: Apache-2.0
# STAGEPROF_PORTABLE: the tools start with glibc 2.28 and need no other library than glibc's. The
# wheel and the tarball of programs are built so. The recorder needs no option: it starts with 2.17.
option(STAGEPROF_PORTABLE "Tools that need only glibc 2.28 or later" OFF)

# Finds a library by pkg-config as PkgConfig::NAME; a portable tool takes the static archive. The
# arguments after ARCHIVE are linked after the archive.
macro(stageprof_library name module archive)
	pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
	if(STAGEPROF_PORTABLE)
		find_library(${name}_ARCHIVE NAMES lib${archive}.a REQUIRED)
		set_property(TARGET PkgConfig::${name} PROPERTY INTERFACE_LINK_LIBRARIES
			${${name}_ARCHIVE} ${ARGN})
	endif()
endmacro()

if(STAGEPROF_PORTABLE)
	set(old_glibc ${PROJECT_SOURCE_DIR}/cmake/old_glibc)
	set(glibc_stubs ${PROJECT_BINARY_DIR}/glibc_stubs)
	add_custom_command(OUTPUT ${glibc_stubs}/libc.so ${glibc_stubs}/libm.so
		COMMAND sh ${old_glibc}/stubs.sh ${CMAKE_C_COMPILER} ${CMAKE_OBJDUMP} 2.28
			${glibc_stubs}
		DEPENDS ${old_glibc}/stubs.sh VERBATIM)
	add_custom_target(stageprof_glibc_stubs
		DEPENDS ${glibc_stubs}/libc.so ${glibc_stubs}/libm.so)
	add_library(stageprof_new_functions OBJECT ${old_glibc}/new_functions.c)
	target_compile_definitions(stageprof_new_functions PRIVATE _GNU_SOURCE)
	target_link_libraries(stageprof_new_functions PRIVATE stageprof_warnings)
endif()

# After the target's own libraries.
function(stageprof_portable target)
	if(NOT STAGEPROF_PORTABLE)
		return()
	endif()
	add_dependencies(${target} stageprof_glibc_stubs)
	set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${glibc_stubs}/libc.so)
	target_sources(${target} PRIVATE $<TARGET_OBJECTS:stageprof_new_functions>)
	target_link_options(${target} PRIVATE -L${glibc_stubs} -Wl,--wrap=__libc_start_main
		-Wl,--no-as-needed -Wl,--gc-sections)
endfunction()
