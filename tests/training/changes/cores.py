# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on masks and quotas of cores: free ones that the job may not use."""

import multiprocessing
import os
import sys

import own_loop as own
import torch
from own_loop import CASE, IS_AFTER, Loop, Rows
from torch.utils.data import DataLoader

STEPS = 40
GROUPS = "/sys/fs/cgroup"
work = own.computing(40)


class Costly(Rows):
    """A sample needs a core."""

    def __getitem__(self, index):
        work()
        return torch.full((own.WIDTH,), float(index))


def narrow(worker=0):
    if not IS_AFTER:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def loader(workers, init=None):
    return [DataLoader(Costly(2 * STEPS), batch_size=2, num_workers=workers, worker_init_fn=init)]


def put(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def limit(cores):
    """Half a core for all processes of the program. Needs root; the group stays, and is empty."""
    if IS_AFTER:
        return
    is_v2 = os.path.exists(os.path.join(GROUPS, "cgroup.controllers"))
    folder = os.path.join(GROUPS, "" if is_v2 else "cpu", "stageprof-changes")
    try:
        os.makedirs(folder, exist_ok=True)
        if is_v2:
            put(folder, "cpu.max", f"{int(cores * 100000)} 100000")
        else:
            put(folder, "cpu.cfs_quota_us", str(int(cores * 100000)))
        put(folder, "cgroup.procs", str(os.getpid()))
    except OSError as error:
        sys.exit(f"no control group can be made here: {error}")


def spin(is_over):
    narrow()
    while not is_over.is_set():
        pass


def beside_another():
    """Another process of the job has the training thread's core as well."""
    context = multiprocessing.get_context("fork")
    is_over = context.Event()
    other = context.Process(target=spin, args=(is_over,))
    other.start()
    narrow()
    Loop(work).fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    is_over.set()
    other.join()


def deep():
    layers = [torch.nn.Linear(own.WIDTH, own.WIDTH), torch.nn.LayerNorm(own.WIDTH)] * 60
    return torch.nn.Sequential(*layers, torch.nn.Linear(own.WIDTH, 2))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if CASE == "wider_workers":
        Loop(own.sleeping(2)).fit(loader(2, narrow))
    elif CASE == "wider_trainer":
        beside_another()
    elif CASE == "larger_quota":
        limit(0.5)
        Loop(work).fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    elif CASE == "larger_input_quota":
        limit(0.5)
        Loop(own.sleeping(2)).fit(loader(1))
    elif CASE == "switches_off":
        torch.autograd.set_detect_anomaly(not IS_AFTER)
        Loop(net=deep()).fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    elif CASE == "more_threads":
        loop = Loop(own.computing(40))
        torch.set_num_threads(os.cpu_count() if IS_AFTER else 1)
        loop.fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    else:  # more_cores
        if IS_AFTER:
            os.sched_setaffinity(0, range(os.cpu_count()))
        Loop(own.sleeping(2)).fit(loader(4))
