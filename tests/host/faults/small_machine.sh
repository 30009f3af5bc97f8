#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# small_machine.sh FOLDER LIBRARY PROGRAM...: the first process of a kernel of its own (user-mode
# Linux), whose root is the host's file system. Runs PROGRAM under the library on a file system in
# memory, and copies to FOLDER what is left there: cwd, run.zst, tally, and the exit status as a
# shell has it.
folder=$1 library=$2
shift 2
mount -t proc proc /proc
mount -t tmpfs tmpfs /mnt
cp "$folder/tally" /mnt
mkdir /mnt/cwd
cd /mnt/cwd
LD_PRELOAD=$library STAGEPROF_OUTPUT=/mnt/run.zst TALLY=/mnt/tally "$@"
echo $? > /mnt/status
cp -r /mnt/cwd /mnt/run.zst /mnt/tally /mnt/status "$folder"
sync
echo o > /proc/sysrq-trigger # power off: an init that returns is a panic
sleep 60
