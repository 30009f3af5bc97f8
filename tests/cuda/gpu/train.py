# SPDX-License-Identifier: Apache-2.0
"""A small training on synthetic data; knows nothing of the tracer. Prints one JSON line at the end.

    python3 train.py --workload resnet --mode eager --steps 30 [--kineto FILE]

Modes: eager, amp (bfloat16 autocast), compile (torch.compile), graph (the whole step as a CUDA
graph). With --kineto the measured steps run under torch.profiler, whose trace goes to FILE.
"""

import argparse
import contextlib
import json
import statistics
import time

import torch
from torch import nn

WINDOW = "measured steps"
# The GPU is given nothing for so long on either side of the measured steps; kineto.py counts on
# half.
EDGE_S = 0.02
# The first steps under a profiler are slow, and a part of them may be missing.
PROFILED_AHEAD = 3


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def resnet(batch):
    blocks = [Block(32) for _ in range(4)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *blocks, *head)
    return model, (batch, 3, 64, 64)


class Transformer(nn.Module):
    def __init__(self, width=256, layers=4):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.encoder(x).mean(dim=1))


def transformer(batch):
    return Transformer(), (batch, 128, 256)


class Training:
    def __init__(self, workload, mode, device, batch):
        torch.manual_seed(1)
        model, shape = {"resnet": resnet, "transformer": transformer}[workload](batch)
        self.device, self.mode = device, mode
        self.model = model.to(device)
        self.run_model = torch.compile(self.model) if mode == "compile" else self.model
        capturable = {"capturable": True} if mode == "graph" else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, **capturable)
        pinned = device.type == "cuda"
        self.inputs = [torch.randn(shape) for _ in range(4)]
        self.targets = [torch.randint(0, 10, (batch,)) for _ in range(4)]
        if pinned:
            self.inputs = [x.pin_memory() for x in self.inputs]
            self.targets = [y.pin_memory() for y in self.targets]
        self.graph = None

    def compute(self, x, y):
        self.optimizer.zero_grad(set_to_none=self.mode != "graph")
        amp = torch.autocast(self.device.type, torch.bfloat16, enabled=self.mode == "amp")
        with amp:
            loss = nn.functional.cross_entropy(self.run_model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss

    def capture(self):
        """As PyTorch's notes on CUDA graphs say: some steps aside first."""
        self.x = self.inputs[0].to(self.device)
        self.y = self.targets[0].to(self.device)
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                self.compute(self.x, self.y)
        torch.cuda.current_stream().wait_stream(aside)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.compute(self.x, self.y)

    def step(self, i):
        x, y = self.inputs[i % 4], self.targets[i % 4]
        if self.mode != "graph":
            x = x.to(self.device, non_blocking=True)
            y = y.to(self.device, non_blocking=True)
            return self.compute(x, y)
        if not self.graph:
            self.capture()
        self.x.copy_(x, non_blocking=True)
        self.y.copy_(y, non_blocking=True)
        self.graph.replay()
        return self.loss

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def run(self, steps):
        """How long each ten steps took, up to their loss."""
        tens, since = [], time.perf_counter_ns()
        for i in range(steps):
            last = self.step(i)
            if i % 10 == 9:
                last.item()
                tens.append(time.perf_counter_ns() - since)
                since += tens[-1]
        self.wait()
        return tens


@contextlib.contextmanager
def profiled(path, device):
    if not path:
        yield
        return
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as profiler:
        yield
    profiler.export_chrome_trace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=["resnet", "transformer"], default="resnet")
    parser.add_argument("--mode", choices=["eager", "amp", "compile", "graph"], default="eager")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--kineto")
    options = parser.parse_args()
    device = torch.device(options.device)
    training = Training(options.workload, options.mode, device, options.batch)
    training.run(options.warmup)
    with profiled(options.kineto, device):
        if options.kineto:
            training.run(PROFILED_AHEAD)
        training.wait()
        time.sleep(EDGE_S)
        begin, counter = time.time_ns(), time.perf_counter_ns()
        with torch.profiler.record_function(WINDOW):
            tens = training.run(options.steps)
        end, counter = time.time_ns(), time.perf_counter_ns() - counter
        time.sleep(EDGE_S)
    margin = round(EDGE_S * 1e9 / 2)
    ten = statistics.median(tens) if tens else None
    said = {
        "begin_ns": begin - margin,
        "end_ns": end + margin,
        "wall_ns": counter,
        "ten_steps_ns": ten,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
