# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on a DataLoader and its workers. The work is sleep: it needs no core."""

import concurrent.futures
import http.server
import itertools
import multiprocessing
import os
import time
import urllib.request

import numpy
import own_loop as own
import torch
from own_loop import CASE, IS_AFTER, NUMBER, Loop, Rows
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

STEPS = int(os.environ.get("STEPS", "80"))


def loader(ms=0.0, **more):
    """Batches of two samples that take `ms` together."""
    return DataLoader(Rows(2 * STEPS, ms / 2), batch_size=2, **more)


def use_workers():
    return [loader(30, num_workers=NUMBER)]


def add_workers():
    return [loader(60, num_workers=NUMBER if IS_AFTER else 1)]


def add_workers_epochs():
    """Each epoch starts its workers again, one after another."""
    rows = Rows(40, 30)
    return [DataLoader(rows, batch_size=2, num_workers=NUMBER if IS_AFTER else 1)] * 4


def workers():
    return [loader(60, num_workers=NUMBER if IS_AFTER else 3)]


class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        part = (worker.id, worker.num_workers) if worker and IS_AFTER else (0, 1)
        for number in range(part[0], 2 * STEPS, part[1]):
            time.sleep(0.030)
            yield torch.full((own.WIDTH,), float(number))


def add_workers_iterable():
    return [DataLoader(Stream(), batch_size=2, num_workers=NUMBER if IS_AFTER else 1)]


def blocked():
    return [loader(0 if IS_AFTER else 60, num_workers=1)]


def input_free():
    if IS_AFTER:
        return [[torch.full((2, own.WIDTH), float(number)) for number in range(STEPS)]]
    return [loader(60, num_workers=1)]


class Locked(Rows):
    lock = multiprocessing.Lock()

    def __getitem__(self, index):
        if IS_AFTER:
            return super().__getitem__(index)
        with self.lock:
            return super().__getitem__(index)


def locked():
    return [DataLoader(Locked(2 * STEPS, 30), batch_size=2, num_workers=3)]


class Pooled(Rows):
    """The samples of a batch come from a pool of threads."""

    pool = None
    threads = 2

    def __getitems__(self, indices):
        if not self.pool:
            self.pool = concurrent.futures.ThreadPoolExecutor(self.threads)
        return list(self.pool.map(self.__getitem__, indices))


def awaited():
    rows = Pooled(8 * STEPS, 10)
    rows.threads = 8 if IS_AFTER else 2
    return [DataLoader(rows, batch_size=8, num_workers=1)]


class Sorted(Pooled):
    """NumPy sorts without the interpreter's lock."""

    def __getitem__(self, index):
        values = numpy.random.default_rng(index).random(10000 if IS_AFTER else 200000)
        values.sort()
        return torch.from_numpy(values[: own.WIDTH].astype("f4"))


def own_threads():
    return [DataLoader(Sorted(8 * STEPS), batch_size=8, num_workers=1)]


class Uneven(Rows):
    """One sample of eleven takes long."""

    def __getitem__(self, index):
        time.sleep(0.3 if index % 11 == 10 else 0.002)
        return torch.full((own.WIDTH,), float(index))


def handover():
    ahead = 8 if IS_AFTER else 1
    return [DataLoader(Uneven(66), batch_size=1, num_workers=4, prefetch_factor=ahead)]


prefetch = handover


def batch_size():
    return [DataLoader(Rows(4 * STEPS, 4), batch_size=NUMBER if IS_AFTER else 2, num_workers=0)]


class Parts(Rows):
    """Samples of many small tensors, each of which is sent by itself."""

    def __getitem__(self, index):
        rows = torch.rand(400, 2)
        return rows if IS_AFTER else dict(enumerate(rows.unbind()))


def receive():
    # A step of its own takes the first tensor alone.
    for batch in DataLoader(Parts(STEPS), batch_size=1, num_workers=2):
        yield [torch.ones(2, own.WIDTH) if batch is not None else None]


class Same(Rows):
    """Samples of many small tensors, which are sooner made than received."""

    def __getitem__(self, index):
        return dict(enumerate(torch.zeros(400, 2).unbind()))


def no_workers():
    workers = 0 if IS_AFTER else 1
    for batch in DataLoader(Same(STEPS), batch_size=1, num_workers=workers):
        yield [torch.ones(2, own.WIDTH) if batch is not None else None]


def no_workers_epochs():
    """Starts of workers take most of the time; without workers there are none."""
    workers = 0 if IS_AFTER else 2
    for _ in range(8):
        for batch in DataLoader(Same(15), batch_size=1, num_workers=workers):
            yield [torch.ones(2, own.WIDTH) if batch is not None else None]


class Drawing:
    """Draws indices on the training thread, slowly or not."""

    def __iter__(self):
        for number in range(STEPS):
            time.sleep(0 if IS_AFTER else 0.02)
            yield [2 * number, 2 * number + 1]


def cheaper_sampler():
    return [DataLoader(Rows(2 * STEPS), batch_sampler=Drawing(), num_workers=1)]


class Arrays(Rows):
    def __getitem__(self, index):
        return numpy.full((2 << 20,), index, "f4")


def unshared():
    more = {} if IS_AFTER else {"collate_fn": lambda samples: samples}
    for batch in DataLoader(Arrays(STEPS), batch_size=1, num_workers=2, **more):
        yield [torch.full((2, own.WIDTH), float(batch[0][0]))]


class Answer(http.server.BaseHTTPRequestHandler):
    """A server that is far away: each answer takes 15 ms."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.015)
        body = b"1" * 4096
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


class Remote(Rows):
    def __init__(self, many, address):
        super().__init__(many)
        self.address = address

    def read(self):
        return float(urllib.request.urlopen(self.address).read()[:1])

    def __getitem__(self, index):
        return torch.full((own.WIDTH,), self.read())


class Together(Remote):
    """One request for all samples of a batch."""

    def __getitems__(self, indices):
        value = self.read()
        return [torch.full((own.WIDTH,), value) for _ in indices]


def received():
    rows = (Together if IS_AFTER else Remote)(4 * STEPS, serve())
    return [DataLoader(rows, batch_size=4, num_workers=1)]


def start(_worker):
    time.sleep(0.3)


def persistent_workers():
    few = DataLoader(
        Rows(20), batch_size=2, num_workers=1, worker_init_fn=start, persistent_workers=IS_AFTER
    )
    return [few] * 5


def one_iterator():
    many = DataLoader(Rows(2 * STEPS), batch_size=2, num_workers=1, worker_init_fn=start)
    if IS_AFTER:
        return [itertools.islice(many, 16)]
    return ([next(iter(many))] for _ in range(16))


class Index(IterableDataset):
    """Reads its index at the begin of each pass, or once."""

    is_read = False

    def __iter__(self):
        if not IS_AFTER or not self.is_read:
            time.sleep(0.3)
        self.is_read = True
        for number in range(20):
            yield torch.full((own.WIDTH,), float(number))


class Permuting:
    """Makes all indices of an epoch ahead of its first one, or not."""

    def __iter__(self):
        time.sleep(0 if IS_AFTER else 0.3)
        return iter(range(40))


def first_sampler():
    kept = {"num_workers": 1, "persistent_workers": True}
    return [DataLoader(Rows(40), batch_size=2, sampler=Permuting(), **kept)] * 5


def warm_start():
    return [DataLoader(Index(), batch_size=2)] * 5


class Kept(Rows):
    """Samples that are made in the first epoch, and kept in memory; or an earlier run has made
    them, and they are in files."""

    def __init__(self, many, ms):
        super().__init__(many, ms)
        self.samples = {}
        if IS_AFTER:
            for index in range(many):
                torch.full((self.width,), float(index)).numpy().tofile(f"{index}.kept")

    def __getitem__(self, index):
        if index not in self.samples:
            self.samples[index] = self.read(index) if IS_AFTER else super().__getitem__(index)
        return self.samples[index]

    def read(self, index):
        return torch.from_numpy(numpy.fromfile(f"{index}.kept", "f4"))


def first_epoch():
    return [DataLoader(Kept(40, 20), batch_size=2)] * 4


def pairs():
    for rows, more in zip(loader(10, num_workers=1), loader(90, num_workers=4 if IS_AFTER else 1)):
        yield rows + more


def slow_loader():
    """A step takes a batch of each loader, and the second one has too few workers."""
    return [pairs()]


class Slow(Rows):
    """Unpickled by a spawned worker, which then opens what it needs."""

    def __setstate__(self, state):
        self.__dict__.update(state)
        time.sleep(1)


def quick_start():
    context = "fork" if IS_AFTER else "spawn"
    return [DataLoader(Slow(60), batch_size=2, num_workers=1, multiprocessing_context=context)]


CASES = dict(globals())

if __name__ == "__main__":
    samples = (NUMBER / 2 if IS_AFTER else 1) if CASE == "batch_size" else 1
    Loop().fit(CASES[CASE](), samples=samples)
