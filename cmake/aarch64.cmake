# SPDX-License-Identifier: Apache-2.0
# A toolchain file: programs for aarch64, by Debian's cross compiler, which is the same gcc as the
# compiler of this machine. STAGEPROF_FOREIGN names a folder of packaging/foreign_libraries.sh.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES STAGEPROF_FOREIGN)
set(CMAKE_FIND_ROOT_PATH ${STAGEPROF_FOREIGN} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${STAGEPROF_FOREIGN}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${STAGEPROF_FOREIGN})
