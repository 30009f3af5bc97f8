# SPDX-License-Identifier: Apache-2.0
"""Ranks of a job over the device's NCCL that stand still after some steps. Usage:
nccl_hang_program.py LIBRARY CASE FOLDER. The ranks are forked, so that PyTorch is loaded once.
Prints `ready` when a rank has reached the place of the hang."""

import ctypes
import os
import sys
import time

import torch

library, case, folder = sys.argv[1:]
RANKS, STEPS, AT = 3, 30, 12
PIPE = os.path.join(folder, "pipe")
WORLD, PAIR, TWIN, PART = 0, 1, 2, 3


class Samples(torch.utils.data.Dataset):
	def __init__(self, rank):
		self.rank = rank

	def __len__(self):
		return 4 * STEPS

	def __getitem__(self, i):
		if case == "loader" and self.rank == 2 and i >= 4 * AT:
			block()
		return torch.randn(16), i % 4


def block():
	os.write(1, b"ready\n")
	open(PIPE).close()  # nobody ever writes


def ok(*results):
	assert not any(results), results


class Job:
	def __init__(self, rank):
		self.rank, self.nccl = rank, ctypes.CDLL(library)
		nccl = self.nccl
		ok(nccl.join(WORLD, RANKS, rank, 70))
		# The ranks make the same communicators in different order.
		for comm in (PAIR, TWIN) if rank else (TWIN, PAIR):
			ok(nccl.join(comm, RANKS, rank, 70 + comm))
		ok(nccl.divide(WORLD, -1 if rank == 2 else 0, PART))
		if case == "many":
			for i in range(300):
				ok(nccl.join(500, RANKS, rank, 1000 + i), nccl.leave(500))
		if case == "refused" and rank == 0:
			assert nccl.sum(WORLD, 0) == 4  # NCCL does not take it

	def step(self, step):
		nccl, at = self.nccl, step == AT
		if at and self.rank == 1 and case in ("file", "ahead", "refused", "many", "part"):
			block()
		ok(nccl.sum_by(WORLD, 100), nccl.spread(TWIN, 30))
		if case == "part" and self.rank < 2:
			ok(nccl.sum(PART, 40))
		if case == "ahead":
			ok(nccl.sum(PAIR, 60), nccl.sum(WORLD, 100))
		if at and case == "size":
			os.write(1, b"ready\n")
			ok(nccl.sum(WORLD, 20 if self.rank == 1 else 10), nccl.settle())
			open(PIPE).close()
		if at and case == "message" and self.rank == 1:
			ok(nccl.receive(WORLD))
			os.write(1, b"ready\n")
		elif at and case == "message":
			ok(nccl.settle())
			block()
		ok(nccl.settle())


def train(rank):
	job = Job(rank)
	torch.manual_seed(0)
	model = torch.nn.Linear(16, 4)
	optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
	loader = torch.utils.data.DataLoader(Samples(rank), 4, num_workers=int(case == "loader"))
	for step, (x, y) in enumerate(loader):
		optimizer.zero_grad()
		torch.nn.functional.cross_entropy(model(x), y).backward()
		job.step(step)
		optimizer.step()


torch.set_num_threads(1)
os.mkfifo(PIPE)
children = []
for number in range(RANKS):
	child = os.fork()
	if child == 0:
		train(number)
		os._exit(0)
	children.append(child)
while True:  # looks at its ranks, as torchrun does
	time.sleep(0.2)
