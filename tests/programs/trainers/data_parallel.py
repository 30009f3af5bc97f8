# SPDX-License-Identifier: Apache-2.0
"""A small network trained by DistributedDataParallel over gloo; run by torchrun, or alone.

One rank can be slow, as ranks are that share their node with a neighbour, or whose disk is: in its
input (--slow=loader) or in its forward (--slow=forward). With --timers each rank writes what its
training thread did in each backward: begin, wall time, processor time, time without a core (ns).
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Samples(Dataset):
    def __init__(self, count, seconds):
        self.values = torch.randn(count, 64, generator=torch.Generator().manual_seed(1))
        self.seconds = seconds

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        if self.seconds:
            time.sleep(self.seconds)
        return self.values[i], self.values[i].sum() > 0


class Model(torch.nn.Module):
    def __init__(self, width, seconds):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width),
            torch.nn.ReLU(), torch.nn.Linear(width, 1))
        self.seconds = seconds

    def forward(self, values):
        if self.seconds:
            time.sleep(self.seconds)
        return self.layers(values).squeeze(1)


def thread_times():
    with open("/proc/thread-self/schedstat") as file:
        without_core_ns = int(file.read().split()[1])
    return time.perf_counter_ns(), time.thread_time_ns(), without_core_ns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20, help="of an epoch")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--slow-rank", type=int, default=-1)
    parser.add_argument("--slow", choices=("loader", "forward"), default="loader")
    parser.add_argument("--slow-ms", type=float, default=10, help="a step")
    parser.add_argument("--timers", metavar="FOLDER")
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    seconds = args.slow_ms / 1000 if rank == args.slow_rank else 0
    model = Model(args.width, seconds if args.slow == "forward" else 0)
    if world > 1:
        distributed.init_process_group("gloo")
        model = DistributedDataParallel(model)
    data = Samples(args.steps * args.batch * world,
                   seconds / args.batch if args.slow == "loader" else 0)
    sampler = DistributedSampler(data, world, rank, shuffle=True)
    loader = DataLoader(data, args.batch, sampler=sampler, num_workers=args.workers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    backwards = []
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for values, labels in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                model(values), labels.float())
            begin = thread_times()
            loss.backward()
            backwards.append((begin, thread_times()))
            optimizer.step()
    if world > 1:
        distributed.destroy_process_group()
    if args.timers:
        with open(os.path.join(args.timers, f"rank-{rank}.json"), "w") as file:
            json.dump([[b[0], *(y - x for x, y in zip(b, e))] for b, e in backwards], file)
    print("rank", rank, "loss", round(loss.item(), 6))


if __name__ == "__main__":
    main()
