# SPDX-License-Identifier: Apache-2.0
"""Training loops of many shapes, each in a forked process of its own; prints what each of them
counted itself.

python3 shapes_program.py [SHAPE...]    prints JSON: shape -> {"pid", "steps", "epochs": steps of
each, ...}
"""

import contextlib
import io
import json
import os
import queue
import sys
import threading
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

ROWS, BATCH = 12, 3
BATCHES = ROWS // BATCH
cross_entropy = torch.nn.functional.cross_entropy


class Rows(Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return torch.full((8,), float(index)), index % 2


class Makers(Rows):
    def __getitem__(self, index):
        return super().__getitem__(index)[0], os.getpid()


class Stream(IterableDataset):
    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        first, by = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, ROWS, by):
            yield torch.full((8,), float(index)), index % 2


def loader(**options):
    return DataLoader(options.pop("data", None) or Rows(), batch_size=BATCH, **options)


def model_of(outputs=2):
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, outputs)
    )


def made(kind=torch.optim.SGD):
    model = model_of()
    return model, kind(model.parameters(), lr=0.01)


def step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = cross_entropy(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()


def evaluate(model, batches):
    with torch.no_grad():
        for rows, _ in batches:
            model(rows)


def lightning():
    """The optimizer calls a closure; a check of validation before it all; a limit on validation's
    batches."""
    model, optimizer = made()
    training, validation = loader(), loader()

    def validate(limit):
        for number, (rows, _) in enumerate(validation):
            if number == limit:
                break
            model(rows)

    with torch.no_grad():
        validate(2)
    for _ in range(2):
        for rows, labels in training:

            def closure():
                loss = cross_entropy(model(rows), labels)
                optimizer.zero_grad()
                loss.backward()
                return loss

            optimizer.step(closure)
        with torch.no_grad():
            validate(BATCHES)
        torch.save(model.state_dict(), "lightning.pt")
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "checkpoint": True, "validated": 2}


def prefetching(**options):
    """The next batch is fetched before this one is trained on, as the accelerate library does."""
    model, optimizer = made()
    batches = loader(**options)

    def ahead():
        iterator = iter(batches)
        batch = next(iterator)
        while True:
            following = next(iterator, None)
            yield batch
            if following is None:
                return
            batch = following

    for _ in range(3):
        for batch in ahead():
            step(model, optimizer, batch)
    return {"steps": 3 * BATCHES, "epochs": [BATCHES] * 3, "validated": 0}


def prefetching_workers():
    return prefetching(num_workers=1)


def prefetching_persistent():
    return prefetching(num_workers=1, persistent_workers=True)


def accumulation():
    """Two batches a step, automatic mixed precision and a scaler."""
    model, optimizer = made(torch.optim.AdamW)
    # before 2.3 there is only CUDA's
    scaler = (
        torch.amp.GradScaler("cpu")
        if hasattr(torch.amp, "GradScaler")
        else torch.cuda.amp.GradScaler(enabled=False)
    )
    schedule = torch.optim.lr_scheduler.ConstantLR(optimizer)
    for _ in range(2):
        for number, (rows, labels) in enumerate(loader(), 1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = cross_entropy(model(rows), labels) / 2
            scaler.scale(loss).backward()
            if number % 2 == 0:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                schedule.step()
    return {"steps": BATCHES, "epochs": [BATCHES // 2] * 2, "validated": 0}


def stream():
    """An IterableDataset with workers."""
    model, optimizer = made()
    for _ in range(2):
        for batch in loader(data=Stream(), num_workers=2):
            step(model, optimizer, batch)
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "validated": 0}


def memmap():
    """Language models: batches cut out of a mapped file, validation every so many steps, no loader.
    """
    numpy.arange(4096, dtype=numpy.float32).tofile("memmap.bin")
    model, optimizer = made(torch.optim.AdamW)
    tokens = numpy.memmap("memmap.bin", dtype=numpy.float32, mode="r")

    def batch(at):
        return torch.from_numpy(tokens[at * 24 : at * 24 + 24].reshape(3, 8).copy()), torch.tensor(
            [0, 1, 0]
        )

    for number in range(10):
        if number % 5 == 0:
            evaluate(model, [batch(i) for i in range(3)])
        step(model, optimizer, batch(number))
    return {"steps": 10, "epochs": [10], "loader": False}


def reinforcement():
    """Rollouts without gradients, then several updates from them: no loader."""
    policy, optimizer = made(torch.optim.Adam)
    for _ in range(4):
        states, actions = [], []
        with torch.no_grad():
            state = torch.zeros(8)
            for _ in range(16):
                action = policy(state).argmax()
                states.append(state)
                actions.append(action)
                state = state.roll(1) + action
        for _ in range(3):
            step(policy, optimizer, (torch.stack(states), torch.stack(actions)))
    return {"steps": 12, "epochs": [12], "loader": False}


def adversaries():
    """Two models, two backwards and two optimizers a batch."""
    generator, discriminator = model_of(8), model_of(1)
    optimizers = [torch.optim.Adam(m.parameters()) for m in (generator, discriminator)]
    for _ in range(2):
        for rows, _ in loader():
            fake = generator(rows)
            optimizers[1].zero_grad()
            (discriminator(rows).mean() - discriminator(fake.detach()).mean()).backward()
            optimizers[1].step()
            optimizers[0].zero_grad()
            discriminator(fake).mean().backward()
            optimizers[0].step()
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "validated": 0}


def critic():
    """A penalty by autograd.grad; the generator steps after every second batch; samples without
    gradients."""
    generator, discriminator = model_of(8), model_of(1)
    optimizers = [torch.optim.Adam(m.parameters()) for m in (generator, discriminator)]
    for _ in range(2):
        for number, (rows, _) in enumerate(loader(num_workers=1, persistent_workers=True)):
            with torch.no_grad():
                fake = generator(rows)
            mixed = (rows + fake).requires_grad_(True)
            slope = torch.autograd.grad(discriminator(mixed).sum(), mixed, create_graph=True)[0]
            optimizers[1].zero_grad()
            (
                discriminator(fake).mean() - discriminator(rows).mean() + slope.square().mean()
            ).backward()
            optimizers[1].step()
            if number % 2:
                optimizers[0].zero_grad()
                discriminator(generator(rows)).mean().backward()
                optimizers[0].step()
        with torch.no_grad():
            generator(torch.randn(BATCH, 8))
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "validated": 0}


def finder():
    """A few steps to find a rate, by an iterator that is dropped; then training, validated twice an
    epoch."""
    model, optimizer = made()
    training, validation = loader(num_workers=1), loader(num_workers=1)
    iterator = iter(training)
    for _ in range(2):
        step(model, optimizer, next(iterator))
    del iterator
    for _ in range(2):
        for number, batch in enumerate(training, 1):
            step(model, optimizer, batch)
            if number % (BATCHES // 2) == 0:
                evaluate(model, validation)
    return {"steps": 2 + 2 * BATCHES, "epochs": [2, BATCHES, BATCHES], "validated": 2}


def closure():
    """LBFGS: several forwards and backwards inside of one step."""
    model, optimizer = made(torch.optim.LBFGS)
    for _ in range(2):
        for rows, labels in loader():

            def loss_of():
                optimizer.zero_grad()
                loss = cross_entropy(model(rows), labels)
                loss.backward()
                return loss

            optimizer.step(loss_of)
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "validated": 0}


def updating_by_hand():
    """No optimizer at all: the parameters are changed where the gradients are."""
    model = model_of()
    for _ in range(2):
        for batch in loader(shuffle=True):
            cross_entropy(model(batch[0]), batch[1]).backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
                    parameter.grad = None
        evaluate(model, loader())
    return {
        "steps": 2 * BATCHES,
        "epochs": [BATCHES] * 2,
        "validated": 2,
        "loader": True,
        "end_with": "backward",
    }


def validation_only():
    model = model_of()
    evaluate(model, loader())
    return {"steps": 0, "epochs": []}


def zipped():
    """Two loaders side by side, the second one longer."""
    model, optimizer = made()
    longer = DataLoader(Rows(), batch_size=2)
    for _ in range(2):
        for batch, (extra, _) in zip(loader(), longer):
            model(extra)
            step(model, optimizer, batch)
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "validated": 0}


def endless():
    """One iterator that begins again whenever it ends; validation in the middle of an epoch, cut
    short."""
    model, optimizer = made()
    training, validation = loader(), loader()
    iterator = iter(training)
    for number in range(3 * BATCHES):
        batch = next(iterator, None)
        if batch is None:
            iterator = iter(training)
            batch = next(iterator)
        step(model, optimizer, batch)
        if number % BATCHES == 1:
            evaluate(model, (batch for batch, _ in zip(validation, range(2))))
    return {"steps": 3 * BATCHES, "epochs": [BATCHES] * 3, "validated": 3}


def skipping():
    """Every second batch of the first epoch is skipped."""
    model, optimizer = made()
    for epoch in range(2):
        for number, batch in enumerate(loader()):
            if epoch == 0 and number % 2:
                continue
            step(model, optimizer, batch)
    return {"steps": BATCHES // 2 + BATCHES, "epochs": [BATCHES // 2, BATCHES], "validated": 0}


def raising():
    """An exception in the middle of an epoch is caught, and training begins again."""
    model, optimizer = made()
    for attempt in range(2):
        with contextlib.suppress(ValueError):
            for number, batch in enumerate(loader()):
                if attempt == 0 and number == 2:
                    raise ValueError
                step(model, optimizer, batch)
    return {"steps": 2 + BATCHES, "epochs": [2, BATCHES], "validated": 0}


def interrupted():
    """The last batch's backward is cut short, and nothing follows."""
    model, optimizer = made()

    def stop(_gradient):
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        for number, batch in enumerate(loader()):
            if number == 3:
                model[2].weight.register_hook(stop)
            step(model, optimizer, batch)
    return {"steps": 3, "epochs": [3], "validated": 0}


def persistent():
    """Workers that live on from one epoch to the next; validation by a loader without any."""
    model, optimizer = made()
    training, validation = loader(num_workers=1, persistent_workers=True), loader()
    for _ in range(2):
        for batch in training:
            step(model, optimizer, batch)
        evaluate(model, validation)
    return {"steps": 2 * BATCHES, "epochs": [BATCHES] * 2, "validated": 2}


def queued():
    """A thread makes batches and hands them over by a queue: no loader, and the trainer waits for
    each."""
    model, optimizer = made()
    batches = queue.Queue(1)

    def make():
        for _ in range(12):
            time.sleep(0.02)
            batches.put((torch.randn(3, 8), torch.tensor([0, 1, 0])))
        batches.put(None)

    threading.Thread(target=make).start()
    waited = 0
    for number in range(13):
        began = time.monotonic_ns()
        batch = batches.get()
        # The first step is known from its zero_grad on only, and the last call gives no batch.
        waited += time.monotonic_ns() - began if 0 < number < 12 else 0
        if batch:
            step(model, optimizer, batch)
    return {"steps": 12, "epochs": [12], "loader": True, "waited_ns": waited}


class SlowFile(io.BytesIO):
    def write(self, data):
        time.sleep(0.005)
        return super().write(data)


def saving_behind():
    """Threads save while training goes on, which waits for each before it starts the next."""
    model, optimizer = made()
    waited, saver = 0, None
    for number in range(8):
        step(model, optimizer, (torch.randn(3, 8), torch.tensor([0, 1, 0])))
        if number % 2 == 0:
            saver = threading.Thread(target=torch.save, args=(model.state_dict(), SlowFile()))
            saver.start()
        elif number < 7:  # what follows the last step is no part of training
            began = time.monotonic_ns()
            saver.join()
            waited += time.monotonic_ns() - began
    saver.join()
    return {"steps": 8, "epochs": [8], "checkpoint": True, "saved_ns": waited}


def reading():
    """Batches are read from files where they are needed: no loader, and nothing to wait for."""
    model, optimizer = made()
    for number in range(6):
        with open(f"{os.getpid()}-{number}.bin", "wb") as file:
            file.write(bytes(3 * 8 * 4))
    for number in range(6):
        with open(f"{os.getpid()}-{number}.bin", "rb") as file:
            rows = numpy.frombuffer(file.read(), dtype=numpy.float32).reshape(3, 8).copy()
        step(model, optimizer, (torch.from_numpy(rows), torch.tensor([0, 1, 0])))
    return {"steps": 6, "epochs": [6], "loader": True}


def serving_forks():
    """Workers that a fork server makes: they are none of the trainer's children."""
    model, optimizer = made()
    for rows, pids in loader(data=Makers(), num_workers=1, multiprocessing_context="forkserver"):
        step(model, optimizer, (rows, torch.zeros_like(pids)))
    return {"steps": BATCHES, "epochs": [BATCHES], "worker": pids[0].item()}


SHAPES = (
    lightning,
    prefetching,
    prefetching_workers,
    prefetching_persistent,
    accumulation,
    stream,
    memmap,
    queued,
    reading,
    saving_behind,
    reinforcement,
    adversaries,
    critic,
    finder,
    closure,
    updating_by_hand,
    validation_only,
    zipped,
    endless,
    skipping,
    raising,
    interrupted,
    persistent,
    serving_forks,
)


def forked(shape):
    """The result of the shape, from its own process."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        with os.fdopen(into, "w") as file:
            json.dump(shape(), file)
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as file:
        counted = json.load(file)
    os.waitpid(pid, 0)
    return {"pid": pid, **counted}


def main(names):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    made(torch.optim.LBFGS)  # what the first optimizer imports takes seconds
    print(json.dumps({s.__name__: forked(s) for s in SHAPES if not names or s.__name__ in names}))


if __name__ == "__main__":
    main(sys.argv[1:])
