# SPDX-License-Identifier: Apache-2.0
# A real Slurm of one node, with its own processes and network: jobs of four tasks by srun, each
# task under stageprof by the launcher, and by the task prolog. A job of four gloo ranks, where
# PyTorch is there, is digested by tasks of srun, and its slow rank is found. Needs root, slurmd,
# slurmctld and munge.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

for command in slurmctld slurmd srun munged; do
	[[ -x $(PATH=$PATH:/usr/sbin command -v $command) ]] || sp_skip "no $command"
done
sp_can_enter
tree=$(sp_package tree)
tar --extract --file="$tree"
cp "$SP_ROOT/packaging/clusters/task_prolog.sh" \
	"$SP_ROOT/tests/programs/trainers/data_parallel.py" .
export PYTORCH=
[[ -z $sp_python ]] || ! "$sp_python" -c 'import torch' || PYTORCH=$sp_python
cat > slurm.conf <<'CONFIGURATION'
ClusterName=one
SlurmctldHost=node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge-test/socket
CredType=cred/munge
StateSaveLocation=/run/slurm-state
SlurmdSpoolDir=/run/slurm-spool
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=node NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes=ALL Default=YES
CONFIGURATION
echo CgroupPlugin=cgroup/v1 > cgroup.conf
cat > inside.sh <<'COMMANDS'
set -euo pipefail
export PATH=/usr/sbin:/usr/bin:/sbin:/bin SLURM_CONF=/mnt/slurm.conf
mount -t sysfs sysfs /sys
ip link set lo up
ip address add 10.0.0.1/32 dev lo # names are looked up only where an address is not 127.x
hostname node
echo "127.0.0.1 localhost node" > /etc/hosts
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -m 755 /run/munge-test /run/slurm-state /run/slurm-spool
head -c 128 /dev/urandom > /run/munge-test/key
chmod 400 /run/munge-test/key
munged --force --key-file=/run/munge-test/key --socket=/run/munge-test/socket \
	--pid-file=/run/munge-test/pid --log-file=/run/munge-test/log \
	--seed-file=/run/munge-test/seed 2> /dev/null
slurmctld -L /mnt/slurmctld.log
slurmd -L /mnt/slurmd.log
mkdir -p /opt/stageprof
mount --bind /mnt/opt/stageprof /opt/stageprof
cd /mnt
export PATH=/opt/stageprof/bin:$PATH
timeout 60 srun --ntasks=4 stageprof run --quiet --output=run.%r.zst -- python3 train.py
STAGEPROF_OUTPUT=prolog.%r.zst timeout 60 srun --ntasks=4 --task-prolog=/mnt/task_prolog.sh \
	python3 train.py
timeout 60 srun --ntasks=4 --task-prolog=/mnt/task_prolog.sh \
	python3 -c 'import os; assert "LD_PRELOAD" not in os.environ'
for way in run prolog; do
	for rank in 0 1 2 3; do
		stageprof-report files --format=json $way.$rank.zst > $way.$rank.json
		grep -q '/data.bin",.*"reads":100,.*"read_bytes":100000,' $way.$rank.json
	done
	stageprof-report ranks $way.?.zst > $way.ranks.txt
done
timeout 60 srun --ntasks=4 sh -c \
	'exec stageprof-report digest run.$SLURM_PROCID.zst -o node-$SLURM_PROCID.spd'
stageprof-report digest node-?.spd -o job.spd
stageprof-report digest run.?.zst -o direct.spd
cmp job.spd direct.spd
[[ -n $PYTORCH ]] || exit 0
timeout 200 srun --ntasks=4 sh -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=4
	export MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 GLOO_SOCKET_IFNAME=lo
	exec stageprof run --quiet --output=gloo.%r.zst -- "$PYTORCH" data_parallel.py --epochs=1 \
		--steps=30 --slow=forward --slow-rank=2 --slow-ms=40'
timeout 60 srun --ntasks=4 sh -c \
	'exec stageprof-report digest gloo.$SLURM_PROCID.zst -o gloo-$SLURM_PROCID.spd'
stageprof-report digest gloo-?.spd -o gloo.spd
stageprof-report digest gloo.?.zst -o gloo-direct.spd
cmp gloo.spd gloo-direct.spd
stageprof-report ranks gloo.spd | tee gloo.ranks.txt
grep -q 'straggler  rank 2 (' gloo.ranks.txt
[[ $(grep -c '^straggler ' gloo.ranks.txt) -eq 1 ]]
COMMANDS
unshare --net --uts true 2> enter.txt || sp_skip "no network of its own: $(cat enter.txt)"
timeout 300 unshare --net --uts bash -c '. "$0"; sp_enter / bash -x /mnt/inside.sh' \
	"$SP_ROOT/tests/host/packaging/roots.sh" > inside.txt 2>&1 ||
	sp_fail "$(tail -n 20 inside.txt; tail -n 5 slurmctld.log slurmd.log)"
[[ $(ls -d run.?.zst prolog.?.zst | wc -l) -eq 8 ]] || sp_fail "not a run for each task: $(ls)"
cat run.ranks.txt
[[ -z $PYTORCH ]] || cat gloo.ranks.txt
sp_tried / "the tree: four tasks of Slurm by \`srun stageprof run\`, and by a task prolog"
