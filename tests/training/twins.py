# SPDX-License-Identifier: Apache-2.0
"""Five trainers as people have them, each with a twin that carries hand-written timers.

The rows that the timers give come out of the run that was recorded meanwhile: calls exactly, totals
within 2% and 5 µs a call (hooks of modules: 50 µs, because PyTorch's own Python code lies between
them and a timer);
unmarked time (forward) within 10%, the steps' loader wait within 2 points of
their time, the account's time within 0.1%. A label of record_function lies, call by call, between
a timer inside of it and one around it, whatever the machine does meanwhile. The unmodified trainer
gives the same rows with the same calls.

    python3 twins.py                the labelled trainer
    python3 twins.py --nightly      all five
    python3 twins.py --table FILE   all five, and the table of FILE (docs/tests/TWINS.md)

A process may lose the processor between the two readings of the clock: the tenth of the calls that
differ most, at least one, is left out of the totals, and on an overloaded machine totals are not
compared at all.
"""

import json
import os
import sys
import tempfile
import unittest

import training
from ranges import Run

SHARE, CALL_NS, MODULE_NS, RESIDUAL_SHARE = 0.02, 5000, 50000, 0.1
WAIT_SHARE, WALL_SHARE = 0.02, 0.001
CLOCK_NS = 100  # two clocks: the trace keeps readings to 10 ns
RATE_SHARE = 1e-4  # the trace's clock is measured against the kernel's, which is steered


def program(name, modules):
    try:
        if "paddle" in modules:
            return [training.paddle(), os.path.join(training.TRAINERS, name + ".py")]
        return [training.interpreter(*modules), os.path.join(training.TRAINERS, name + ".py")]
    except SystemExit:
        raise unittest.SkipTest("no " + " ".join(modules))


def need_quiet():
    load = os.getloadavg()[0]
    if load > 2 * os.cpu_count():
        raise unittest.SkipTest(
            f"load {load:.0f} on {os.cpu_count()} processors: totals say nothing"
        )


def difference(timed, recorded):
    """The difference of the totals, and the total, without the calls that differ most."""
    pairs = sorted(zip(sorted(timed), sorted(recorded)), key=lambda pair: abs(pair[0] - pair[1]))
    kept = pairs[: len(pairs) - max(1, len(pairs) // 10)]
    return abs(sum(r - t for t, r in kept)), sum(t for t, _ in kept), len(kept)


def view_of(row):
    return "modules" if row["event"] == "module_forward" else "ranges, labels"


def cells(timed, recorded):
    """Calls, their time and the difference, without the calls that differ most; as a share, and of
    a call."""
    off, total, kept = difference(timed, recorded)
    if len(recorded) < len(timed) or not total:
        raise AssertionError(f"{len(recorded)} calls recorded of {len(timed)}")
    share, each = f"{off / total:.2%}", f"{off / kept / 1e3:.1f} µs"
    return str(len(timed)), f"{total / 1e6:.1f} ms", share, each


class Twin(unittest.TestCase):
    """rows: timer's name to what finds the same calls in the run, for Run.find; marks: the same, of
    which only calls are compared, because the timer is also around other code of PyTorch. inside:
    timer's name to how many calls the library makes by itself. step: timers of what a step begins
    with, and of what it ends with.
    """

    trainer, modules, folder, arguments, settings = None, (), True, (), {}
    rows, marks, inside, step = {}, {}, {}, None

    @classmethod
    def setUpClass(cls):
        if cls.trainer is None:
            raise unittest.SkipTest("the base of the others")
        with tempfile.TemporaryDirectory() as scratch:
            folder = [os.path.join(scratch, "data")] if cls.folder else []
            path = os.path.join(scratch, "timers.json")
            twin = [*program(cls.trainer + "_twin", cls.modules), *folder, path, *cls.arguments]
            done = training.execute(twin, scratch, **cls.settings)
            if done.returncode != 0:
                raise AssertionError(done.stderr.decode())
            run = os.path.join(scratch, "run.zst")
            cls.twin, cls.account = Run(run), training.report("summary", run)["account"]
            cls.steps, cls.epochs, cls.ranges, cls.tree = (
                training.report(view, run)[view]
                for view in ("steps", "epochs", "ranges", "modules")
            )
            with open(path) as file:
                cls.timers = json.load(file)
            plain = [*program(cls.trainer, cls.modules), *folder, *cls.arguments]
            cls.plain, _ = training.record(plain, **cls.settings)

    def test_calls(self):
        for name, row in [*self.rows.items(), *self.marks.items()]:
            calls = len(self.timers[name]) + self.inside.get(name, 0)
            with self.subTest(name):
                self.assertEqual(self.twin.count(**row), calls)
                self.assertEqual(self.plain.count(**row), calls)

    def test_totals(self):
        need_quiet()
        for name, row in self.rows.items():
            if name in self.inside:
                continue
            timed = [ns for _, ns in self.timers[name]]
            off, total, calls = difference(timed, [r.ns for r in self.twin.find(**row)])
            call_ns = MODULE_NS if row["event"] == "module_forward" else CALL_NS
            with self.subTest(name, total_ns=total, calls=calls):
                self.assertLessEqual(off, SHARE * total + call_ns * calls)

    @classmethod
    def table(cls):
        """(row, view, calls, time, error, error of a call) of each row that the timers give."""
        for name, row in cls.rows.items():
            timed = [ns for _, ns in cls.timers[name]]
            yield name, view_of(row), *cells(timed, [r.ns for r in cls.twin.find(**row)])
        if cls.step:
            twin = cls("test_forward")
            steps = twin.timed_steps(need=lambda: None)
            for name, part, timed in (
                ("forward of a step", "forward", [forward for _, _, forward in steps]),
                ("wait of a step", "loader_wait", [wait for _, wait, _ in steps]),
            ):
                yield name, "summary, steps", *cells(timed, twin.parts(part))

    def timed_steps(self, need=need_quiet):
        """(begin, wait, forward) of each step, by the timers: the last wait before each forward."""
        if not self.step:
            self.skipTest("its steps have no timers")
        waits = sorted(self.timers[self.step[0]])
        found = [
            (max(w for w in waits if w[0] < begin), ns)
            for begin, ns in sorted(self.timers["forward"])
        ]
        self.assertEqual(len(self.steps), len(found))
        need()
        return [(begin, wait, forward) for (begin, wait), forward in found]

    def parts(self, name):
        return [step["parts"][name] for step in self.steps]

    def test_forward(self):
        off, total, _ = difference(
            [forward for _, _, forward in self.timed_steps()], self.parts("forward")
        )
        self.assertLessEqual(off, RESIDUAL_SHARE * total)

    def test_loader_wait(self):
        timed = sum(wait for _, wait, _ in self.timed_steps())
        wall = sum(step["wall_ns"] for step in self.steps)
        self.assertLessEqual(abs(sum(self.parts("loader_wait")) - timed), WAIT_SHARE * wall)

    def test_wall(self):
        begin = self.timed_steps()[0][0]
        wall = max(begin + ns for begin, ns in self.timers[self.step[1]]) - begin
        accounted = sum(row["ns"] or 0 for row in self.account)
        self.assertLessEqual(abs(accounted - wall), WALL_SHARE * wall)


def call(name, part=None):
    return {"event": "python_call", "name": name, "part": part}


def label(name):
    return {"event": "torch_range", "name": name}


def loader_next(name):
    return {"event": "loader_next", "name": name}


MULTI = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


class Act(Twin):
    trainer, modules = "act_hdf5", ("h5py", "cv2")
    rows = {
        "__getitem__": call("Episodes.__getitem__"),
        "file open": call("Episodes.open_episode"),
        "read qpos": call("Episodes.read_qpos"),
        "read a camera": call("Episodes.read_camera"),
        "read all cameras": call("Episodes.read_cameras"),
        "decode": call("cv2.imdecode", "decode_image"),
        "read actions": call("Episodes.read_actions"),
        "to tensors": call("Episodes.to_tensors"),
        "loader wait": loader_next("DataLoader next"),
        "backward": call("backward", "backward"),
        "optimizer step": call("AdamW.step", "optimizer"),
    }
    marks = {"loader wait": label(MULTI), "optimizer step": label("Optimizer.step#AdamW.step")}
    step = "loader wait", "optimizer step"

    timed_epochs = {
        "wall": "epoch",
        "training": "training",
        "validation": "validation",
        "validation_forward": "validation forward",
    }

    @classmethod
    def found_epochs(cls):
        found = {key: [epoch[key] for epoch in cls.epochs] for key in cls.epochs[0]}
        found["validation_forward_ns"] = [
            v - w for v, w in zip(found["validation_ns"], found["validation_wait_ns"])
        ]
        return found

    @classmethod
    def table(cls):
        yield from super().table()
        found = cls.found_epochs()
        for key, name in cls.timed_epochs.items():
            timed = [ns for _, ns in cls.timers[name]]
            yield name, "epochs", *cells(timed, found[key + "_ns"])

    def test_epochs(self):
        found = self.found_epochs()
        self.assertEqual(len(self.epochs), len(self.timers["epoch"]))
        need_quiet()
        for key, name in self.timed_epochs.items():
            timers = [ns for _, ns in self.timers[name]]
            with self.subTest(name, timers=timers, found=found[key + "_ns"]):
                self.assertLessEqual(
                    abs(sum(found[key + "_ns"]) - sum(timers)), RESIDUAL_SHARE * sum(timers)
                )


class Motion(Twin):
    trainer = "motion_rl"
    rows = {
        name: label(name)
        for name in "iteration|motion sampling|rollout|policy|physics|learning|advantages|loss|optimize".split(
            "|"
        )
    }
    depths = {
        "iteration": 0,
        "motion sampling": 1,
        "rollout": 1,
        "policy": 2,
        "physics": 2,
        "learning": 1,
    }
    depths.update({"advantages": 2, "loss": 2, "optimize": 2})

    def test_totals(self):
        for name, row in self.rows.items():
            marks = sorted(self.twin.find(**row), key=lambda mark: mark.start_ns)
            calls = zip(self.timers[name], marks, self.timers["around " + name], strict=True)
            for (_, inside), mark, (_, around) in calls:
                with self.subTest(name, inside=inside, mark=mark.ns, around=around):
                    slack = CLOCK_NS + RATE_SHARE * around
                    self.assertLessEqual(inside, mark.ns + slack)
                    self.assertLessEqual(mark.ns, around + slack)

    def test_ranges(self):
        """The labels as a tree: what each has beside those inside it, too."""
        labels = [
            row for row in self.ranges if row["event"] == "torch_range" and row["name"] in self.rows
        ]
        self.assertEqual({row["name"]: row["depth"] for row in labels}, self.depths)
        for row in labels:
            timed, around = (
                sum(ns for _, ns in self.timers[before + row["name"]]) for before in ("", "around ")
            )
            with self.subTest(row["name"], total_ns=row["total_ns"]):
                self.assertEqual(row["calls"], len(self.timers[row["name"]]))
                self.assertTrue(timed <= row["total_ns"] + CLOCK_NS * row["calls"])
                self.assertTrue(row["total_ns"] <= around + CLOCK_NS * row["calls"])
                self.assertEqual(row["self_ns"], row["total_ns"] - sum(children(self.ranges, row)))

    def test_operators_of_some_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = [*program(self.trainer, self.modules), os.path.join(folder, "data")]
            done = training.execute(plain, folder, STAGEPROF_OPS="1", STAGEPROF_STEPS="4-7")
            self.assertEqual(done.returncode, 0, done.stderr)
            ops = training.report("ops", os.path.join(folder, "run.zst"))["ops"]
        # Two iterations: actor and physics in each of 8 steps, the critic once, both in each of two
        # updates.
        (tanh,) = (op for op in ops if op["op"] == "aten::tanh")
        self.assertEqual(tanh["calls"], 2 * (2 * 8 + 1 + 2 * 2))
        self.assertEqual(
            [op["self_ns"] for op in ops], sorted((op["self_ns"] for op in ops), reverse=True)
        )
        self.assertAlmostEqual(sum(op["share"] for op in ops), 1, 2)


def children(rows, row):
    """Totals of what lies right inside of a row of a tree."""
    for inner in rows[rows.index(row) + 1 :]:
        if inner["depth"] <= row["depth"]:
            return
        if inner["depth"] == row["depth"] + 1:
            yield inner["total_ns"]


class Diffusion(Twin):
    trainer, arguments = "diffusion_policy", ("2",)
    rows = {
        "__getitem__": call("Episodes.__getitem__", "dataset"),
        "load image": call("Episodes.load_image", "dataset"),
        "load actions": call("Episodes.load_actions", "dataset"),
        "crop": call("RandomCrop", "transform"),
        "jitter": call("ColorJitter", "transform"),
        "tensor": call("ToTensor", "transform"),
        "loader wait": loader_next("DataLoader next"),
        "backward": call("backward", "backward"),
        "unscale": call("GradScaler.unscale_", "grad_scale"),
        "clip": call("clip_grad_norm_", "grad_clip"),
        "scaler step": call("GradScaler.step", "scaled_step"),
        "scaler update": call("GradScaler.update", "grad_scale"),
        "zero_grad": call("Optimizer.zero_grad", "zero_grad"),
        "schedule": call("lr_scheduler.step", "lr_schedule"),
        "save": call("torch.save", "checkpoint_save"),
    }
    marks = {"loader wait": label(MULTI), "zero_grad": label("Optimizer.zero_grad#AdamW.zero_grad")}
    # the schedule's constructor makes a step
    inside = {"schedule": 1}
    step = "loader wait", "scaler step"


class DiffusionInline(Diffusion):
    arguments = ("0",)
    marks = {**Diffusion.marks, "loader wait": label(SINGLE)}


class DiffusionWorkers(unittest.TestCase):
    def test_runs_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = []
            for workers in (0, 2, 4, 8):
                data, inside = os.path.join(folder, "data"), os.path.join(folder, str(workers))
                os.mkdir(inside)
                command = [*program(Diffusion.trainer, ()), data, str(workers)]
                self.assertEqual(training.execute(command, inside).returncode, 0)
                runs.append(os.path.join(inside, "run.zst"))
                seen = training.report("workers", runs[-1])["workers"]
                self.assertEqual(sum(worker["batches"] for worker in seen), 16)
                self.assertEqual(len([w for w in seen if w["role"] == "worker"]), 2 * workers)
            compared = training.report("compare", runs[0], *runs[1:])
        self.assertEqual([run["steps"] for run in compared["runs"]], [16] * 4)
        waits = {row["part"]: row["per_step_ns"] for row in compared["account"]}["loader_wait"]
        self.assertEqual(len(waits), 4)
        self.assertTrue(all(ns > 0 for ns in waits))


class Video(Twin):
    trainer, folder = "video_restore", False
    settings = {"STAGEPROF_MODULES": "2"}
    rows = {
        "encoder": {
            "event": "module_forward",
            "name": "encoder\tEncoder\t[3, 3, 32, 32] -> [3, 16, 32, 32]",
        },
        "attention": {
            "event": "module_forward",
            "name": "attention\tTemporalAttention\t[1, 3, 16, 32, 32] -> [1, 3, 16, 32, 32]",
        },
        "fusion": {
            "event": "module_forward",
            "name": "fusion\tFusion\t[1, 3, 16, 32, 32] -> [1, 16, 32, 32]",
        },
        **{
            f"stages.{i}": {
                "event": "module_forward",
                "name": f"stages.{i}\tStage\t[1, 16, 32, 32] -> [1, 16, 32, 32]",
            }
            for i in range(8)
        },
    }

    def test_tree(self):
        """The view's rows: time, calls, the first call apart, and the share of all, from the calls
        recorded."""
        (whole,) = (row for row in self.tree if row["depth"] == 0)
        blocks = {row["path"]: row for row in self.tree if row["path"] in self.rows}
        self.assertEqual(set(blocks), set(self.rows))
        for name, row in blocks.items():
            calls = sorted(self.twin.find(**self.rows[name]), key=lambda call: call.start_ns)
            timed = [call.ns for call in calls]
            bound = WALL_SHARE * sum(timed) + CLOCK_NS * len(timed)
            with self.subTest(name, timed=timed, row=row):
                shown = "{path}\t{class}\t{input_shapes} -> {output_shapes}".format(**row)
                self.assertEqual(
                    (row["depth"], row["calls"], shown), (1, len(timed), self.rows[name]["name"])
                )
                self.assertLessEqual(abs(row["total_ns"] - sum(timed)), bound)
                self.assertLessEqual(abs(row["first_mean_ns"] - timed[0]), bound)
                self.assertLessEqual(abs(row["mean_ns"] * (len(timed) - 1) - sum(timed[1:])), bound)
                self.assertAlmostEqual(row["share"], row["total_ns"] / whole["total_ns"], 4)


class Paddle(Twin):
    trainer, modules, folder = "paddle_sequence", ("paddle",), False
    rows = {
        "reader": loader_next("paddle DataLoader next"),
        "backward": call("paddle backward", "backward"),
        "optimizer": call("paddle Adam.step", "optimizer"),
        "clear": call("paddle clear_grad", "zero_grad"),
    }
    step = "reader", "optimizer"


TWINS = (Act, Motion, Diffusion, Video, Paddle)
# Rows of Paddle's are in the prose: the table has those of trainers that ran.
TABLE = os.path.join(training.ROOT, "docs", "tests", "TWINS.md")
HEAD = "| trainer | view | rows | time | error | of a call |\n|---|---|---|---|---|---|\n"


def summary(trainer, rows):
    """A line for each view: its rows, their time, its error, the greatest error of a call."""
    views = {}
    for _, view, _, time, error, call in rows:
        ms, share, us = (float(cell.rstrip(" msµ%")) for cell in (time, error, call))
        views.setdefault(view, []).append((ms, ms * share, us))
    for view, cells in views.items():
        ms, off = sum(cell[0] for cell in cells), sum(cell[1] for cell in cells)
        call = max(cell[2] for cell in cells)
        yield f"| {trainer} | {view} | {len(cells)} | {ms:.1f} ms | {off / ms:.2f}% | {call} µs |"


class Page(unittest.TestCase):
    def test_rows(self):
        """The page has as many rows of each trainer as its twin has timers for."""
        counts = {}
        with open(TABLE) as file:
            for line in file:
                cells = [cell.strip() for cell in line.split("|")]
                if len(cells) > 3 and cells[3].isdigit():
                    counts[cells[1]] = counts.get(cells[1], 0) + int(cells[3])
        for twin in TWINS[:-1]:
            extra = 2 * bool(twin.step) + len(getattr(twin, "timed_epochs", ()))
            self.assertEqual(counts.get(twin.trainer), len(twin.rows) + extra, twin.trainer)


def write_table(path):
    with open(path) as file:
        page = file.read()
    begin = page.index(HEAD) + len(HEAD)
    kept = {}
    for line in page[begin:].splitlines():
        if line.startswith("| "):
            kept.setdefault(line.split("|")[1].strip(), []).append(line)
    lines = []
    for twin in TWINS:
        try:
            twin.setUpClass()
        except unittest.SkipTest as reason:
            print(f"{twin.trainer} keeps its rows: {reason}")
            lines += kept.get(twin.trainer, [])
            continue
        lines += summary(twin.trainer, twin.table())
    end = page.find("\n\n", begin)
    with open(path, "w") as file:
        file.write(page[:begin] + "\n".join(lines) + (page[end:] if end >= 0 else "\n"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        write_table(sys.argv[2])
        sys.exit()
    everything = [] if "--nightly" in sys.argv else ["Motion", "Page"]
    unittest.main(argv=[sys.argv[0], *everything], verbosity=2)
