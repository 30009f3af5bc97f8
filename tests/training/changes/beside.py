# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on work beside the model: saving, logs, evaluation, compiling, and
batches that come without a DataLoader."""

import concurrent.futures
import fcntl
import http.server
import lzma
import multiprocessing
import os
import queue
import threading
import time
import urllib.request

import own_loop as own
import torch
from own_loop import CASE, IS_AFTER, Loop, Rows
from torch.utils.data import DataLoader

STEPS = int(os.environ.get("STEPS", "60" if CASE == "growth" else "40"))
later = queue.Queue()
pool = concurrent.futures.ThreadPoolExecutor(1)
ahead = []
loop = None


def work():
    while True:
        later.get()()


def in_a_thread(function):
    later.put(function)


def plain():
    return [DataLoader(Rows(2 * STEPS), batch_size=2)]


class State:
    """Takes 100 ms to save."""

    def __reduce__(self):
        time.sleep(0.1)
        return State, ()


def async_checkpoint(number):
    def save():
        torch.save(State(), "weights.pt")

    if number % 5 == 3:
        in_a_thread(save) if IS_AFTER else save()


def made_late():
    time.sleep(0.1)
    return 1


class Late:
    """Takes 100 ms to load."""

    def __reduce__(self):
        return made_late, ()


def load():
    return torch.load("teacher.pt", weights_only=False)


def load_ahead(number):
    """Every fifth step needs what a file holds; a thread may begin to load it four steps ahead."""
    if IS_AFTER and number % 5 == 0:
        ahead.append(pool.submit(load))
    if number % 5 == 4:
        ahead.pop().result() if IS_AFTER and ahead else load()


BLOCK = b"a" * (1 << 20)
log = os.open("log", os.O_WRONLY | os.O_CREAT, 0o600)


def loop_writes(number):
    if not IS_AFTER or number % 10 == 0:
        for place in range(24):
            os.pwrite(log, BLOCK, place << 20)


def loop_fsync(number):
    for place in range(16):
        os.pwrite(log, BLOCK[:4096], place << 20)
        if not IS_AFTER or (number % 10 == 0 and place == 0):
            os.fsync(log)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.015)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


def loop_messages(_number):
    def send():
        urllib.request.urlopen(address, b"a" * 600).read()

    in_a_thread(send) if IS_AFTER else send()


def read_slowly(pipe):
    while os.read(pipe, 4096):
        time.sleep(0.002)


def slow_reader():
    """A pipe to a process that takes 2 ms for 4 KiB, as a terminal far away does."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    fork = multiprocessing.get_context("fork")
    fork.Process(target=read_slowly, args=(reading,), daemon=True).start()
    return writing


def loop_waits(number):
    if not IS_AFTER or number % 10 == 0:
        for _ in range(5):
            os.write(writing, BLOCK[:4096])


def slow_average(average, _model, _count):
    time.sleep(0.004)
    return average


def less_bookkeeping(number):
    if not IS_AFTER or number % 10 == 0:
        average.update_parameters(loop.net)


def less_evaluation(number):
    if number % (20 if IS_AFTER else 10) == 5:
        with torch.no_grad():
            for _ in range(10):
                loop.net(torch.ones(2, own.WIDTH))


def less_validation(number):
    if number % (40 if IS_AFTER else 20) == 10:
        with torch.no_grad():
            for rows in DataLoader(Rows(60), batch_size=2):
                loop.net(rows)


validated = DataLoader(
    Rows(40, 10), batch_size=2, num_workers=4 if IS_AFTER else 0, persistent_workers=IS_AFTER
)


def validation_workers(number):
    if number % 10 == 5:
        with torch.no_grad():
            for rows in validated:
                loop.net(rows)


def loop_blocked(number):
    if not IS_AFTER or number % 10 == 0:
        time.sleep(0.010)


def rare_loop(number):
    if number % (20 if IS_AFTER else 10) == 9:
        time.sleep(0.1)


def named_part():
    time.sleep(0.010)


def loop_names(number):
    if not IS_AFTER or number % 10 == 0:
        named_part()


def growth(number):
    time.sleep(0.0005 * (0 if IS_AFTER else number))


# Compiling


def compiler(graph, _inputs):
    """A backend that takes 0.4 s for each graph."""
    time.sleep(0.4)
    return graph.forward


class Tokens(Rows):
    """Sentences of another length in each batch, or padded."""

    def __getitem__(self, index):
        return torch.full((32 if IS_AFTER else 8 + 3 * (index // 2 % 8),), float(index))


class Any(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 2)

    def forward(self, rows):
        return self.layer(rows.sum(1, keepdim=True))


def compile_once():
    import torch._dynamo

    torch._dynamo.config.cache_size_limit = 64
    net = torch.nn.Sequential(Any())
    inner = torch.compile(net, backend=compiler, dynamic=False)
    return Loop(net=inner), [DataLoader(Tokens(3 * STEPS), batch_size=2)]


# Batches without a DataLoader


def produce(batches, ms, many):
    for number in range(many):
        time.sleep(ms / 1000)
        batches.put([float(number)] * 2 * own.WIDTH)


def own_queue():
    batches = multiprocessing.get_context("fork").Queue(4)
    many = 4 if IS_AFTER else 1
    for _ in range(many):
        multiprocessing.get_context("fork").Process(
            target=produce, args=(batches, 50, STEPS // many), daemon=True
        ).start()
    for _ in range(STEPS):
        yield torch.tensor(batches.get()).view(2, own.WIDTH)


def own_rare():
    """Data of ten steps at once, or ahead in a process."""
    batches = multiprocessing.get_context("fork").Queue(20)
    many = 10

    def fill():
        for _ in range(STEPS // many):
            time.sleep(0.15)
            batches.put([[1.0] * 2 * own.WIDTH] * many)

    if IS_AFTER:
        multiprocessing.get_context("fork").Process(target=fill, daemon=True).start()
    reader, writer = os.pipe()

    def late():
        time.sleep(0.15)
        os.write(writer, b"1")

    for _ in range(STEPS // many):
        if IS_AFTER:
            rows = batches.get()
        else:
            threading.Thread(target=late).start()
            os.read(reader, 1)
            rows = [[1.0] * 2 * own.WIDTH] * many
        for row in rows:
            yield torch.tensor(row).view(2, own.WIDTH)


def tensors():
    for _ in range(STEPS):
        yield torch.ones(2, own.WIDTH)


class Functional(Loop):
    """No call of a module: all before backward is left over."""

    def __init__(self, made_ms=0, every=1, read=0):
        super().__init__()
        self.weights = [torch.zeros(own.WIDTH, 2, requires_grad=True)]
        self.optimizer = torch.optim.SGD(self.weights, lr=0.01)
        self.seconds, self.every, self.read = made_ms / 1000, every, read

    def step(self, rows):
        if self.seconds and self.number % self.every == 0:
            time.sleep(self.seconds)
        if self.read:
            reader, writer = os.pipe()
            threading.Timer(self.read / 1000, os.write, (writer, b"1")).start()
            os.read(reader, 1)
        self.optimizer.zero_grad()
        time.sleep(0.004)
        own.Backward.apply(rows @ self.weights[0], own.sleeping(10)).sum().backward()
        self.optimizer.step()


class Acting(Loop):
    """The model is called between parts of the loop, as where an agent acts."""

    def step(self, rows):
        self.optimizer.zero_grad()
        for _ in range(3):
            answers = self.net(rows)
            time.sleep(0.002 if IS_AFTER else 0.020)
        answers.sum().backward()
        self.optimizer.step()


def unknown_names():
    return Acting(), plain()


def unknown_blocked():
    return Acting(), plain()


def model_data():
    """The model unpacks what it learns from, or gets it unpacked."""
    packed = lzma.compress(" ".join(map(str, range(150000))).encode())
    work = own.sleeping(3)

    def unpack():
        None if IS_AFTER else lzma.decompress(packed)
        work()

    return Loop(net=own.Net(unpack, work)), plain()


def count():
    """Python code that holds the interpreter's lock."""
    while True:
        pass


def other_threads():
    make = multiprocessing.get_context("fork").Process if IS_AFTER else threading.Thread
    loop = Loop()
    make(target=count, daemon=True).start()
    return loop, plain()


class Weighing(Loop):
    """Between the model's call and the backward is more than the loss."""

    def step(self, rows):
        loss = self.net(rows.flatten(1)).sum()
        time.sleep(0 if IS_AFTER else 0.010)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def unmarked_names():
    return Weighing(), plain()


def own_forward():
    return Functional(0 if IS_AFTER else 30, read=8), [tensors()]


def long_forward():
    return Functional(0 if IS_AFTER else 30), plain()


def rare_forward():
    return Functional(0 if IS_AFTER else 200, every=10), plain()


def blocked_model():
    return Loop(own.computing(2) if IS_AFTER else own.sleeping(10)), plain()


def faster_model():
    torch.use_deterministic_algorithms(True)  # slows a device alone, and there is none
    work = own.computing(4 if IS_AFTER else 20)
    return Loop(work, now=time.process_time_ns), plain()


def faster_compiled():
    rounds = 4 if IS_AFTER else 20
    net = own.Net(own.computing(rounds // 4), own.computing(3 * rounds))  # forward has no call
    net = torch.compile(net, backend="eager")
    net(torch.ones(2, own.WIDTH)).sum().backward()  # compiles ahead of the training
    return Loop(net=net, now=time.process_time_ns), plain()


class Costly(torch.optim.SGD):
    """A step that computes, and less."""

    work = staticmethod(own.computing(4 if IS_AFTER else 40))

    def step(self, closure=None):
        self.work()
        return super().step(closure)


def cheaper_optimizer():
    loop = Loop(own.computing(4), now=time.process_time_ns)
    loop.optimizer = Costly(loop.net.parameters(), lr=0.01)
    return loop, plain()


def computed():
    """Batches that the loop computes, or that lie ready."""
    work = own.computing(20)
    for _ in range(STEPS):
        work() if not IS_AFTER else None
        yield torch.ones(2, own.WIDTH)


class Texts(Loop):
    """The model makes the words that it learns from, for each batch or for every other one."""

    def step(self, rows):
        if not IS_AFTER or self.number % 2 == 0:
            with torch.no_grad():
                for _word in range(24):
                    self.net(rows.flatten(1))
        super().step(rows)


def less_generation():
    return Texts(own.sleeping(2)), plain()


def loop_batches():
    return Loop(own.computing(4), now=time.process_time_ns), [computed()]


AFTER_STEPS = {
    made.__name__: made
    for made in (
        async_checkpoint,
        load_ahead,
        loop_writes,
        loop_fsync,
        loop_messages,
        loop_waits,
        less_bookkeeping,
        less_evaluation,
        less_validation,
        validation_workers,
        loop_blocked,
        rare_loop,
        loop_names,
        growth,
    )
}
QUEUES = {"own_queue": own_queue, "own_rare": own_rare}
MODELS = {
    made.__name__: made
    for made in (
        compile_once,
        unknown_names,
        other_threads,
        unmarked_names,
        own_forward,
        long_forward,
        rare_forward,
        blocked_model,
        faster_model,
        faster_compiled,
        cheaper_optimizer,
        loop_batches,
        less_generation,
        model_data,
        unknown_blocked,
    )
}

if __name__ == "__main__":
    if CASE == "loop_messages":
        address = serve()
    if CASE == "loop_waits":
        writing = slow_reader()
    if CASE == "load_ahead":
        torch.save(Late(), "teacher.pt")
    threading.Thread(target=work, daemon=True).start()
    if CASE in MODELS:
        loop, passes = MODELS[CASE]()
    else:
        loop = Loop()
        passes = [QUEUES[CASE]()] if CASE in QUEUES else plain()
    average = torch.optim.swa_utils.AveragedModel(loop.net, avg_fn=slow_average)
    loop.fit(passes, AFTER_STEPS.get(CASE))
    os._exit(0) if CASE in QUEUES else None
