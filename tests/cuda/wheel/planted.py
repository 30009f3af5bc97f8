# SPDX-License-Identifier: Apache-2.0
"""planted.py NAME: a trainer on CUDA with one known property, or with "NAME mended …" the same
without it. torchrun starts it where it has ranks."""

import os
import sys
import time

import ending  # noqa: F401
import torch
from torch import nn

STEPS = 60
is_mended = sys.argv[2:3] == ["mended"]


def deep(width=64, layers=20):
    blocks = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(layers)]
    return nn.Sequential(*blocks)


def loop(model, batches, after=None, before_step=None):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        if before_step:
            before_step()
        optimizer.step()
        if after:
            after(loss)


def repeated(x, count=STEPS):
    for _ in range(count):
        yield x


def on_device():
    return repeated(torch.randn(32, 64, device="cuda"))


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, i):
        time.sleep(0.02)
        return torch.full((64,), float(i))


def resident():
    """All work is the device's, where it is slow; the host's, where it is fast."""
    loop(deep().cuda(), on_device())


def slow_loader():
    """The device's queue is empty while the trainer waits for a batch; mended, a batch is there."""
    loader = torch.utils.data.DataLoader(Slow(), 1, num_workers=1)
    batches = repeated(torch.zeros(1, 64)) if is_mended else loader
    loop(deep(layers=2).cuda(), (x.cuda() for x in batches))


def long_setup():
    """The device idles for a second before training, after the sync of .to()."""
    model = deep().to("cuda")
    torch.cuda.synchronize()
    time.sleep(1)
    loop(model, on_device(), lambda loss: loss.item())


def graph_replays():
    """Three steps of warm-up and a capture, then 30 replays, which are the steps."""
    model, x = deep(layers=2).cuda(), torch.randn(32, 64, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        loop(model, repeated(x, 3))
    torch.cuda.current_stream().wait_stream(side)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad()
    with torch.cuda.graph(graph):
        model(x).sum().backward()
        optimizer.step()
    for _ in range(30):
        graph.replay()


def zeroed_late():
    """zero_grad stands between forward and backward, which is a common order."""
    model = deep(layers=2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(32, 64, device="cuda")
    for _ in range(STEPS):
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def large_rows(count=STEPS):
    """16 MiB a batch: pinned where mended."""
    rows = torch.randn(65536, 64)
    rows = rows.pin_memory() if is_mended else rows
    for _ in range(count):
        yield rows.to("cuda", non_blocking=True)


def pageable_copies():
    """The host waits for each copy of its pageable memory."""
    loop(deep(layers=4).cuda(), large_rows())


def item_each_step():
    """The device has nothing to do while the host makes the next batch."""

    def made():
        for x in on_device():
            time.sleep(0.01)
            yield x

    loop(deep().cuda(), made(), None if is_mended else lambda loss: loss.item())


def allocations():
    """Each step gives its memory back to the device, and takes it again: both wait."""
    loop(
        deep().cuda(),
        repeated(torch.randn(4096, 64, device="cuda")),
        None if is_mended else lambda _: torch.cuda.empty_cache(),
    )


def copies_in_line():
    """Copies on the stream of the kernels, though their memory is pinned."""
    rows = torch.randn(65536, 64).pin_memory()
    loop(deep(layers=4).cuda(), (rows.to("cuda", non_blocking=True) for _ in range(STEPS)))


def late_copies():
    """Kernels wait for a copy on a stream of its own; mended, it has a quarter of the bytes."""
    side = torch.cuda.Stream()
    rows = torch.zeros(65536, 64, dtype=torch.uint8 if is_mended else torch.float32).pin_memory()
    place = torch.empty_like(rows, device="cuda")

    def copied():
        for _ in range(STEPS):
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                place.copy_(rows, non_blocking=True)
            torch.cuda.current_stream().wait_stream(side)
            yield place.float()

    loop(deep(layers=4).cuda(), copied())


def begin_ranks():
    import torch.distributed as dist

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    return dist


def reduced_late():
    """All gradients are reduced after backward; mended, by DistributedDataParallel beside it."""
    dist, model = begin_ranks(), deep(256, 12).cuda()

    def reduce():
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)

    if is_mended:
        parallel = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1)
        loop(parallel, repeated(torch.randn(32, 256, device="cuda")))
    else:
        loop(model, repeated(torch.randn(32, 256, device="cuda")), before_step=reduce)
    dist.destroy_process_group()


def late_rank():
    """Rank 1 takes 20 ms more in each backward."""
    dist, model = begin_ranks(), deep(layers=4).cuda()
    if dist.get_rank() == 1 and not is_mended:
        model[2].register_full_backward_hook(lambda *_: time.sleep(0.02))
    loop(nn.parallel.DistributedDataParallel(model), on_device())
    dist.destroy_process_group()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    torch.cuda.synchronize()
