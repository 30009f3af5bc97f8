# SPDX-License-Identifier: Apache-2.0
"""Ranks of a job over gloo that stand still or come late after some steps. Usage:
rank_hang_program.py CASE FOLDER. The ranks are forked, so that PyTorch is loaded once. Prints
`ready` when a rank has reached the place of the hang, or all have trained, and the longest time, in
s, that a step took."""

import ctypes
import fcntl
import logging
import mmap
import os
import signal
import socket
import sys
import threading
import time

import torch
import torch._dynamo  # an optimizer would import it in each rank
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

case, folder = sys.argv[1:]
RANKS, STEPS, AT, BATCH = 4, 40, 12, 4
LATE_S, WORKERS = 0.08, 2
PIPE = os.path.join(folder, "pipe")
longest = memoryview(mmap.mmap(-1, 8 * RANKS)).cast("d")  # s without a step, of each rank
with_workers = case.startswith(("loader", "fork_", "worker"))
with_workers |= case in ("late_worker", "healthy_loader")
is_late = case.startswith(("late_", "healthy"))


def reached():
	os.write(1, b"ready %.3f\n" % max(longest))


def block():
	reached()
	open(PIPE).close()  # nobody ever writes


def hold(take):
	"""A thread of this process is inside of `take` from now on."""
	held = threading.Event()

	def run():
		with take():
			held.set()
			time.sleep(600)

	threading.Thread(target=run, daemon=True).start()
	held.wait()


class Mutex:
	"""A lock of a library, such as malloc's or OpenCV's."""

	libc = ctypes.CDLL(None)
	words = (ctypes.c_long * 8)()

	def __enter__(self):
		self.libc.pthread_mutex_lock(self.words)

	def __exit__(self, *_):
		self.libc.pthread_mutex_unlock(self.words)


lock, mutex = threading.Lock(), Mutex()


def openmp():
	torch.set_num_threads(2)
	torch.ones(1 << 20).sum()


# A thread of the trainer is in the first when workers are forked; a worker then does the second.
FORKED = {
	"fork_python": (lambda: hold(lambda: lock), lock.acquire),
	"fork_mutex": (lambda: hold(lambda: mutex), mutex.__enter__),
	"fork_openmp": (openmp, openmp),
}


class Samples(torch.utils.data.Dataset):
	def __init__(self, rank):
		self.rank = rank

	def __len__(self):
		return BATCH * STEPS

	def __getitem__(self, i):
		if self.rank == 2:
			self.meet(i // BATCH, i % BATCH)
		return torch.randn(16), i % 4

	def meet(self, step, sample):
		if step >= AT and case == "loader":
			block()
		if step >= AT and case in FORKED:
			reached()
			FORKED[case][1]()
		if step >= AT and case == "worker_stopped":
			reached()
			os.kill(os.getpid(), signal.SIGSTOP)
		if sample == 0 and case == "late_loader":
			time.sleep(LATE_S)
		if sample == 0 and case == "late_worker" and step % WORKERS:
			time.sleep(2 * WORKERS * LATE_S)


def stop(step, rank, groups):
	if step != AT:
		return
	one, two = torch.zeros(1), torch.zeros(2)
	if case in ("file", "interrupted", "again") and rank == 1:
		block()
	elif case == "socket" and rank == 1:
		server = socket.create_server(("127.0.0.1", 0))
		client = socket.create_connection(server.getsockname())
		reached()
		client.recv(1)
	elif case == "lock":
		held = open(os.path.join(folder, "locked"), "w")
		if rank == 3:
			time.sleep(1)
			reached()
		if rank in (0, 3):
			fcntl.flock(held, fcntl.LOCK_EX)
		groups.append(held)
	elif case == "mutex" and rank == 1:
		hold(lambda: lock)
		reached()
		lock.acquire()
	elif case == "operation":
		reached()
		dist.broadcast(one, 0) if rank == 1 else dist.all_reduce(one)
	elif case in ("size", "type"):
		other = two if case == "size" else one.double()
		reached()
		try:
			dist.all_reduce(other if rank == 1 else one)
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
	elif case == "left" and rank == 0:
		reached()
		dist.barrier()
	elif case == "save" and rank == 0:
		reached()
		with open(PIPE) as file:
			file.read()
	elif case == "exception" and rank == 1:
		threading.Thread(target=block).start()
		raise ValueError("a sample that is broken")


def late(place, rank, step):
	if (case == f"late_{place}" and rank == 2) or case == f"healthy_{place}":
		time.sleep(LATE_S)
	if case == "healthy_pause" and place == "forward" and step == AT:
		time.sleep(6)


class Late(torch.autograd.Function):
	@staticmethod
	def forward(context, x, rank):
		context.rank = rank
		return x.clone()

	@staticmethod
	def backward(context, gradient):
		late("backward", context.rank, 0)
		return gradient, None


class Slow:
	def __reduce__(self):
		time.sleep(LATE_S)
		return Slow, ()


class Model(torch.nn.Module):
	def __init__(self, rank):
		super().__init__()
		self.rank, self.step = rank, 0
		self.one, self.two = torch.nn.Linear(16, 64), torch.nn.Linear(64, 4)

	def forward(self, x):
		if self.training:
			late("forward", self.rank, self.step)
			self.step += 1
		return self.two(Late.apply(self.one(x), self.rank))


def join(rank, name):
	store = dist.FileStore(os.path.join(folder, name), RANKS)
	dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)


def after(step, rank, model, x):
	"""Rank 0 alone does so now and then, or each rank."""
	if step % 2 == 0 and (rank == 0 or case.startswith("healthy")):
		if case in ("late_save", "healthy_save"):
			torch.save(Slow(), os.path.join(folder, f"saved-{rank}"))
		if case in ("late_validation", "healthy_validation"):
			model.eval()
			with torch.no_grad():
				for _ in range(8):
					model.module(x)
					time.sleep(LATE_S / 4)
			model.train()


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
	model = DistributedDataParallel(Model(rank))
	optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
	optimizer.register_step_pre_hook(lambda *_: late("optimizer", rank, 0))
	if case in FORKED and rank == 2:
		FORKED[case][0]()
	workers = WORKERS if with_workers else 0
	loader = torch.utils.data.DataLoader(Samples(rank), BATCH, num_workers=workers)
	since = time.monotonic()
	for step, (x, y) in enumerate(loader):
		optimizer.zero_grad()
		torch.nn.functional.cross_entropy(model(x), y).backward()
		optimizer.step()
		longest[rank] = max(longest[rank], time.monotonic() - since)
		since = time.monotonic()
		after(step, rank, model, x)
		stop(step, rank, groups)


def main():
	children = []
	for number in range(RANKS):
		child = os.fork()
		if child == 0:
			train(number)
			if is_late:
				dist.barrier()
			os._exit(0)
		children.append(child)
	for child in children:
		os.waitpid(child, 0)
	if is_late:
		reached()
	time.sleep(600)


logging.disable()
torch.set_num_threads(1)
os.mkfifo(PIPE)
main()
