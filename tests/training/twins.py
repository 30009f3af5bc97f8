"""Five trainers as people have them, each with a twin that carries hand-written timers.

The rows that the timers give come out of the run that was recorded meanwhile: calls exactly, totals within
2 % and 5 us a call (hooks of modules: 50 us, for PyTorch's own Python code lies between them and a timer); what
nothing marks (forward) within 10 %. A label of record_function lies, call by call, between a timer inside of it and
one around it, whatever the machine does meanwhile. The unmodified trainer gives the same rows with the same calls.

    python3 twins.py              the labelled trainer
    python3 twins.py --nightly    all five

A process may lose the processor between the two readings of the clock: the tenth of the calls that differ
most, at least one, is left out of the totals, and on an overloaded machine totals are not compared at all.
"""

import json
import os
import sys
import tempfile
import unittest

import training

SHARE, CALL_NS, MARK_NS, RESIDUAL_SHARE = 0.02, 5000, 50000, 0.1
CLOCK_NS = 100  # two clocks: the trace keeps readings to 10 ns


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
        raise unittest.SkipTest(f"load {load:.0f} on {os.cpu_count()} processors: totals say nothing")


def difference(timed, recorded):
    """Of the totals, and the total: without the calls that differ most."""
    pairs = sorted(zip(sorted(timed), sorted(recorded)), key=lambda pair: abs(pair[0] - pair[1]))
    kept = pairs[: len(pairs) - max(1, len(pairs) // 10)]
    return abs(sum(r - t for t, r in kept)), sum(t for t, _ in kept), len(kept)


class Twin(unittest.TestCase):
    """rows: timer's name to what finds the same calls in the run, for Run.find. inside: timer's name to how
    many calls the library makes by itself. unequal: timers that have other code of PyTorch inside."""

    trainer, modules, folder, arguments, rows, inside, unequal, settings = None, (), True, (), {}, {}, (), {}

    @classmethod
    def setUpClass(cls):
        if cls.trainer is None:
            raise unittest.SkipTest("the base of the others")
        with tempfile.TemporaryDirectory() as scratch:
            folder = [os.path.join(scratch, "data")] if cls.folder else []
            path = os.path.join(scratch, "timers.json")
            twin = [*program(cls.trainer + "_twin", cls.modules), *folder, path, *cls.arguments]
            cls.twin, _ = training.record(twin, **cls.settings)
            with open(path) as file:
                cls.timers = json.load(file)
            plain = [*program(cls.trainer, cls.modules), *folder, *cls.arguments]
            cls.plain, _ = training.record(plain, **cls.settings)

    def test_calls(self):
        for name, row in self.rows.items():
            calls = len(self.timers[name]) + self.inside.get(name, 0)
            with self.subTest(name):
                self.assertEqual(self.twin.count(**row), calls)
                self.assertEqual(self.plain.count(**row), calls)

    def test_totals(self):
        need_quiet()
        for name, row in self.rows.items():
            if name in self.inside or name in self.unequal:
                continue
            off, total, calls = difference(self.timers[name], [r.ns for r in self.twin.find(**row)])
            call_ns = CALL_NS if row["event"] == "python_call" else MARK_NS
            with self.subTest(name, total_ns=total, calls=calls):
                self.assertLessEqual(off, SHARE * total + call_ns * calls)

    def check_residual(self, name, begins, ends):
        found = gaps(self.twin.find(**begins), self.twin.find(**ends))
        self.assertEqual(len(found), len(self.timers[name]))
        need_quiet()
        off, total, _ = difference(self.timers[name], found)
        self.assertLessEqual(off, RESIDUAL_SHARE * total)


def gaps(begins, ends):
    """From the end of each of `begins` to the first start in `ends` before the next of them; of one thread."""
    ends = sorted(r.start_ns for r in ends)
    starts = sorted(r.start_ns + r.ns for r in begins) + [float("inf")]
    found = (
        [end - start for end in ends if start <= end < limit][:1] for start, limit in zip(starts, starts[1:])
    )
    return [gap for first in found for gap in first]


def call(name, part=None):
    return {"event": "python_call", "name": name, "part": part}


def label(name):
    return {"event": "torch_range", "name": name}


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
        "loader wait": label(MULTI),
        "backward": call("backward", "backward"),
        "optimizer step": label("Optimizer.step#AdamW.step"),
    }

    def test_forward(self):
        self.check_residual("forward", self.rows["loader wait"], self.rows["backward"])


class Motion(Twin):
    trainer = "motion_rl"
    rows = {
        name: label(name)
        for name in "iteration|motion sampling|rollout|policy|physics|learning|advantages|loss|optimize".split("|")
    }

    def test_totals(self):
        for name, row in self.rows.items():
            marks = sorted(self.twin.find(**row), key=lambda mark: mark.start_ns)
            calls = zip(self.timers[name], marks, self.timers["around " + name], strict=True)
            for inside, mark, around in calls:
                with self.subTest(name, inside=inside, mark=mark.ns, around=around):
                    self.assertLessEqual(inside, mark.ns + CLOCK_NS)
                    self.assertLessEqual(mark.ns, around + CLOCK_NS)


class Diffusion(Twin):
    trainer, arguments = "diffusion_policy", ("2",)
    rows = {
        "__getitem__": call("Episodes.__getitem__", "dataset"),
        "load image": call("Episodes.load_image", "dataset"),
        "load actions": call("Episodes.load_actions", "dataset"),
        "crop": call("RandomCrop", "transform"),
        "jitter": call("ColorJitter", "transform"),
        "tensor": call("ToTensor", "transform"),
        "loader wait": label(MULTI),
        "backward": call("backward", "backward"),
        "unscale": call("GradScaler.unscale_", "grad_scale"),
        "clip": call("clip_grad_norm_", "grad_clip"),
        "scaler step": call("GradScaler.step", "grad_scale"),
        "scaler update": call("GradScaler.update", "grad_scale"),
        "zero_grad": label("Optimizer.zero_grad#AdamW.zero_grad"),
        "schedule": call("lr_scheduler.step", "lr_schedule"),
        "save": call("torch.save", "checkpoint_save"),
    }
    # the schedule's constructor makes a step
    inside = {"schedule": 1}
    # torch.compile's wrapper, around the mark
    unequal = ("zero_grad",)

    def test_forward(self):
        # up to the scaling of the loss
        self.check_residual("forward", self.rows["loader wait"], call("GradScaler.scale"))


class DiffusionInline(Diffusion):
    arguments = ("0",)
    rows = {**Diffusion.rows, "loader wait": label(SINGLE)}


class Video(Twin):
    trainer, folder = "video_restore", False
    settings = {"STAGEPROF_MODULES": "2"}
    rows = {
        "encoder": {"event": "module_forward", "name": "encoder\tEncoder\t[3, 3, 32, 32]"},
        "attention": {"event": "module_forward", "name": "attention\tTemporalAttention\t[1, 3, 16, 32, 32]"},
        "fusion": {"event": "module_forward", "name": "fusion\tFusion\t[1, 3, 16, 32, 32]"},
        **{
            f"stages.{i}": {"event": "module_forward", "name": f"stages.{i}\tStage\t[1, 16, 32, 32]"}
            for i in range(8)
        },
    }


class Paddle(Twin):
    trainer, modules, folder = "paddle_sequence", ("paddle",), False
    rows = {
        "reader": {"event": "loader_next", "name": "paddle DataLoader next"},
        "backward": call("paddle backward", "backward"),
        "optimizer": call("paddle Adam.step", "optimizer"),
        "clear": call("paddle clear_grad", "zero_grad"),
    }

    def test_forward(self):
        self.check_residual("forward", self.rows["reader"], self.rows["backward"])


if __name__ == "__main__":
    everything = [] if "--nightly" in sys.argv else ["Motion"]
    unittest.main(argv=[sys.argv[0], *everything], verbosity=2)
