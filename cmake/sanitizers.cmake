# SPDX-License-Identifier: Apache-2.0
# The preload itself is never sanitized, because a sanitizer's runtime must come first in its
# process and the host has none. The recorder and the analyzer are sanitized as plain programs
# (tests/unit, tests/fuzz).
set(STAGEPROF_SANITIZE "" CACHE STRING "list for -fsanitize=, for all but libstageprof.so")
set(STAGEPROF_SANITIZE_NOT "" CACHE STRING "list for -fno-sanitize=")
add_library(stageprof_sanitizers INTERFACE)
if(STAGEPROF_SANITIZE)
	target_compile_options(stageprof_sanitizers INTERFACE
		-fsanitize=${STAGEPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	if(STAGEPROF_SANITIZE_NOT)
		target_compile_options(stageprof_sanitizers INTERFACE
			-fno-sanitize=${STAGEPROF_SANITIZE_NOT})
	endif()
	target_link_options(stageprof_sanitizers INTERFACE -fsanitize=${STAGEPROF_SANITIZE})
endif()
