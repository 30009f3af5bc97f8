# SPDX-License-Identifier: Apache-2.0
# STAGEPROF_PORTABLE: the tools start with glibc 2.17 and need no other library than glibc's. The
# wheel and the tarball of programs are built so. The recorder starts with 2.17 in each build.
option(STAGEPROF_PORTABLE "Tools that need only glibc 2.17 or later" OFF)

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

set(old_glibc ${PROJECT_SOURCE_DIR}/cmake/old_glibc)

# Objects for a program with zstd's static archive, in place of the parts that nothing runs.
add_library(stageprof_zstd_parts OBJECT cmake/portable/zstd_parts.c)
target_link_libraries(stageprof_zstd_parts PRIVATE stageprof_warnings)

# stageprof_stubs(FLOOR FOLDER TARGET): the stubs of this glibc in FOLDER.
function(stageprof_stubs floor folder target)
	add_custom_command(OUTPUT ${folder}/libc.so ${folder}/libm.so
		COMMAND sh ${old_glibc}/stubs.sh ${CMAKE_C_COMPILER} ${CMAKE_OBJDUMP} ${floor}
			${folder}
		DEPENDS ${old_glibc}/stubs.sh VERBATIM)
	add_custom_target(${target} DEPENDS ${folder}/libc.so ${folder}/libm.so)
endfunction()

# The table of cmake/portable/characters.c, by a program of scripts/tables.
set(STAGEPROF_CHARACTERS ${PROJECT_BINARY_DIR}/portable)
file(MAKE_DIRECTORY ${STAGEPROF_CHARACTERS})
add_custom_command(OUTPUT ${STAGEPROF_CHARACTERS}/characters.inc
	COMMAND characters > ${STAGEPROF_CHARACTERS}/characters.inc DEPENDS characters VERBATIM)
add_custom_target(stageprof_characters DEPENDS ${STAGEPROF_CHARACTERS}/characters.inc)

if(STAGEPROF_PORTABLE)
	set(glibc_stubs ${PROJECT_BINARY_DIR}/glibc_stubs)
	stageprof_stubs(2.17 ${glibc_stubs} stageprof_glibc_stubs)
	add_library(stageprof_new_functions OBJECT ${old_glibc}/new_functions.c)
	target_compile_definitions(stageprof_new_functions PRIVATE _GNU_SOURCE)
	target_link_libraries(stageprof_new_functions PRIVATE stageprof_warnings)
	add_library(stageprof_program_start OBJECT ${old_glibc}/program_start.c
		cmake/portable/characters.c cmake/portable/sqlite_extensions.c)
	target_include_directories(stageprof_program_start PRIVATE ${STAGEPROF_CHARACTERS})
	target_link_libraries(stageprof_program_start PRIVATE stageprof_warnings)
	add_dependencies(stageprof_program_start stageprof_characters)
endif()

# The library opens it by its path beside itself. Its name and its few exported functions are not
# libunwind's, so a host with a libunwind of its own gets that one.
set(STAGEPROF_UNWINDER "" CACHE FILEPATH "archive of packaging/unwinder.sh, to install libunwind")
if(STAGEPROF_UNWINDER)
	set(unwinder_stubs ${PROJECT_BINARY_DIR}/glibc_stubs_unwinder)
	stageprof_stubs(2.17 ${unwinder_stubs} stageprof_unwinder_stubs)
	set(exported ${PROJECT_SOURCE_DIR}/cmake/portable/unwinder.map)
	add_library(stageprof_unwinder MODULE ${old_glibc}/new_functions.c)
	set_target_properties(stageprof_unwinder PROPERTIES PREFIX "" OUTPUT_NAME unwinder
		LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/stageprof.d
		LINK_DEPENDS "${exported};${STAGEPROF_UNWINDER}")
	add_dependencies(stageprof_unwinder stageprof_unwinder_stubs)
	target_compile_definitions(stageprof_unwinder PRIVATE _GNU_SOURCE)
	target_link_options(stageprof_unwinder PRIVATE -L${unwinder_stubs}
		-Wl,--version-script=${exported} -Wl,--gc-sections -Wl,-z,defs -Wl,-z,now
		-Wl,--as-needed -Wl,-soname,stageprof_unwinder.so)
	target_link_libraries(stageprof_unwinder PRIVATE stageprof_warnings
		-Wl,--whole-archive ${STAGEPROF_UNWINDER} -Wl,--no-whole-archive)
	install(TARGETS stageprof_unwinder LIBRARY
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/stageprof)
endif()

# The tools' own objects in sections of their own, of which a portable tool takes what it calls.
# Nothing unwinds the tools' frames as they run; a debugger reads .debug_frame. A product and a sum
# are rounded twice on each processor: aarch64 has one instruction for both, and other last bits.
set(STAGEPROF_TOOL_FLAGS -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
	-fno-unwind-tables -ffp-contract=off)

set(no_unwinding ${PROJECT_SOURCE_DIR}/cmake/portable/no_unwinding.ld)

# After the target's own libraries.
function(stageprof_portable target)
	if(NOT STAGEPROF_PORTABLE)
		return()
	endif()
	add_dependencies(${target} stageprof_glibc_stubs)
	set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${glibc_stubs}/libc.so
		${no_unwinding})
	target_sources(${target} PRIVATE $<TARGET_OBJECTS:stageprof_new_functions>
		$<TARGET_OBJECTS:stageprof_program_start>)
	if(NOT target STREQUAL stageprof-launcher) # which has them in each build
		target_sources(${target} PRIVATE $<TARGET_OBJECTS:stageprof_zstd_parts>)
	endif()
	target_link_options(${target} PRIVATE -L${glibc_stubs} -Wl,--wrap=__libc_start_main
		-Wl,--no-as-needed -Wl,--gc-sections -Wl,--no-eh-frame-hdr -Wl,-T,${no_unwinding})
endfunction()
