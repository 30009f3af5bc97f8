# SPDX-License-Identifier: Apache-2.0
# One interface target carries the warnings; every target links it.
option(STAGEPROF_WERROR "warnings are errors (the presets set it)" OFF)
add_library(stageprof_warnings INTERFACE)
target_compile_options(stageprof_warnings INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wwrite-strings -Wvla -Wundef -Wformat=2
	$<$<BOOL:${STAGEPROF_WERROR}>:-Werror>)
target_include_directories(stageprof_warnings INTERFACE ${PROJECT_SOURCE_DIR})
