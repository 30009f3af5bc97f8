#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unified_groups.sh FOLDER: the first process of a kernel of its own (user-mode Linux) whose control
# groups are of version 2 and whose disk is an empty ext4. Runs FOLDER/command there, and leaves in
# FOLDER what it said, and its status.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mount -t ext4 /dev/ubda /mnt
export TMPDIR=/mnt
cd /mnt
sh "$1/command" > "$1/said" 2>&1
echo $? > "$1/status"
sync
echo o > /proc/sysrq-trigger
sleep 60
