# SPDX-License-Identifier: Apache-2.0
"""Ranks of a job over gloo that stand still after some steps. Usage: rank_hang_program.py CASE
FOLDER. The ranks are forked, so that PyTorch is loaded once. Prints `ready` when the last rank has
reached the place of the hang."""

import logging
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

case, folder = sys.argv[1:]
RANKS, STEPS, AT = 3, 40, 12
PIPE = os.path.join(folder, "pipe")


class Samples(torch.utils.data.Dataset):
	def __init__(self, rank):
		self.rank = rank

	def __len__(self):
		return 4 * STEPS

	def __getitem__(self, i):
		if case == "loader" and self.rank == 2 and i >= 4 * AT:
			reached()
			open(PIPE).close()  # nobody ever writes
		return torch.randn(16), i % 4


def reached():
	os.write(1, b"ready\n")


def stop(step, rank, groups):
	if step != AT:
		return
	one, two = torch.zeros(1), torch.zeros(2)
	if case in ("file", "interrupted", "again") and rank == 1:
		reached()
		open(PIPE).close()
	elif case == "operation":
		reached()
		dist.broadcast(one, 0) if rank == 1 else dist.all_reduce(one)
	elif case == "size":
		reached()
		try:
			dist.all_reduce(two if rank == 1 else one)
		except RuntimeError:  # some versions of the backend see it
			pass
		open(PIPE).close()
	elif case == "order":
		first, second = groups if rank == 0 else reversed(groups)
		reached()
		if rank < 2:
			dist.all_reduce(one, group=first)
			dist.all_reduce(one, group=second)
		open(PIPE).close()
	elif case == "stopped" and rank == 2:
		reached()
		os.kill(os.getpid(), signal.SIGSTOP)
	elif case == "died" and rank == 2:
		reached()
		os.kill(os.getpid(), signal.SIGKILL)
	elif case == "left" and rank == 0:
		reached()
		dist.barrier()
	elif case == "save" and rank == 0:
		reached()
		with open(PIPE) as file:
			file.read()


def join(rank, name):
	store = dist.FileStore(os.path.join(folder, name), RANKS)
	dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)


def train(rank):
	if case == "again":  # the group that follows has the same name
		join(rank, "first")
		for _ in range(200):
			dist.all_reduce(torch.zeros(1))
		dist.destroy_process_group()
	join(rank, "store")
	if case == "again":  # gloo makes an all_reduce of it
		dist.reduce_scatter(torch.zeros(1), [torch.zeros(1)] * RANKS)
	groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
	torch.manual_seed(0)
	model = DistributedDataParallel(torch.nn.Linear(16, 4))
	optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
	loader = torch.utils.data.DataLoader(Samples(rank), 4, num_workers=int(case == "loader"))
	for step, (x, y) in enumerate(loader):
		optimizer.zero_grad()
		torch.nn.functional.cross_entropy(model(x), y).backward()
		optimizer.step()
		stop(step, rank, groups)


logging.disable()
torch.set_num_threads(1)
if case not in ("died",):
	os.mkfifo(PIPE)
children = []
for number in range(RANKS):
	child = os.fork()
	if child == 0:
		train(number)
		os._exit(0)
	children.append(child)
for child in children:
	os.waitpid(child, 0)
time.sleep(600)
