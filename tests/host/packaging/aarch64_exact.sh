# SPDX-License-Identifier: Apache-2.0
# The library of the aarch64 wheel under qemu-user: the victims' own counts of file reads,
# descriptors, threads, images of libjpeg, forks, execs, signals and kills, each built for aarch64
# by the compiler that makes the wheel.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/arm64.sh"
. "$(dirname "$0")/victims.sh"

sp_unpack aarch64
export STAGEPROF_TEST_REPEATS=5 STAGEPROF_TEST_KILLS=50
# qemu-user has neither RLIMIT_FSIZE nor strict seccomp; 10,000 live threads take minutes there.
export STAGEPROF_TEST_EXCEPT="Limits.test_file_size Unchanged.test_strict_seccomp
	Threads.test_ten_thousand_alive"
# The rest of exact/counting is of waits, which end when /proc/self/task/TID/syscall says futex:
# that file has the number of the other processor.
sp_exact "$sp_arm64" aarch64-linux-gnu-gcc exact/counting:Counting exact/kills exact/decode \
	exact/processes:Native:Python.test_fork_kill:Python.test_spawn_exit exact/threads \
	exact/manners
sp_tried "$sp_arm64" "exact counts of C programs; forks, execs, signals, kills at random instants" \
	" arm64 under qemu-user"
