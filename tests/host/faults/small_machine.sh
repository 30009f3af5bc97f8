#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# small_machine.sh FOLDER LIBRARY REPORT PROGRAM...: the first process of a kernel of its own
# (user-mode Linux), whose root is the host's file system. Runs PROGRAM under the library on a file
# system in memory, makes a report there, because shared memory ends with the kernel, and copies to
# FOLDER what is left: cwd, run.zst, tally, and the exit status as a shell has it.
folder=$1 library=$2 report=$3
shift 3
mount -t proc proc /proc
mount -t tmpfs tmpfs /mnt
cp "$folder/tally" /mnt
mkdir /mnt/cwd
cd /mnt/cwd
LD_PRELOAD=$library STAGEPROF_OUTPUT=/mnt/run.zst TALLY=/mnt/tally "$@"
echo $? > /mnt/status
"$report" info /mnt/run.zst > /mnt/cwd/report 2>&1
cp -r /mnt/cwd /mnt/run.zst /mnt/tally /mnt/status "$folder"
sync
echo o > /proc/sysrq-trigger # power off: an init that returns is a panic
sleep 60
