# SPDX-License-Identifier: Apache-2.0
"""Programs that another framework than PyTorch or Paddle trains: it is named, its steps are exact
or the report abstains.

    frameworks.py [--nightly | --2024]

Doubles stand for the frameworks. --nightly: the frameworks themselves, by the interpreter in
build/venv-frameworks (scripts/requirements-frameworks.txt). --2024: those of two years ago.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import training

NIGHTLY, OLD = "--nightly" in sys.argv, "--2024" in sys.argv

sys.path.insert(0, os.path.join(training.HERE, "other_frameworks"))

from framework_doubles import (
    ANNOTATION,
    ANNOTATION_LOOP,
    ARRAY_LOOP,
    ARRAY_OF_2024,
    BOOST,
    BOOSTER,
    CALLBACKS,
    DATA_ITERATOR,
    DEVICES,
    DEVICE_LOOP,
    EXECUTOR,
    FETCHED_LOOP,
    ITERATED,
    ITERATED_DATA,
    ITERATED_LOOP,
    EAGER_LOOP,
    EPOCHS,
    EPOCHS_OF_DATA,
    EXTERNAL_MEMORY,
    FIT,
    GENERATE,
    GRAPHS,
    GRAPH_LOOP,
    INNER_WAIT,
    JIT_LOOP,
    LIBTORCH_BODY,
    LIBTORCH_MAIN,
    LIBTORCH_NAMES,
    LIGHTGBM_MAIN,
    LOADER,
    MAIN,
    MIRRORED,
    MPI,
    NATIVE,
    NESTED,
    NESTED_LOOP,
    OWNED_ITERATOR,
    PJIT,
    PJRT_MAIN,
    PJRT_PLUGIN,
    PLUGIN_MAIN,
    READ,
    ROUNDS_DOUBLE,
    ROUNDS_MAIN,
    SESSION_DOUBLE,
    SESSION_MAIN,
    SAVER,
    SAVERS,
    SAVE_LOOP,
    TAPE,
    TEXT_LOOP,
    THREE_LOOPS,
    XGBOOST_MAIN,
)
from framework_programs import (
    ANNOTATIONS,
    CACHE,
    CATBOOST,
    DATA,
    DEVICE_LOOP as DEVICE_LOOP_OF_JAX,
    GRAIN,
    JAX,
    JAX_BESIDE,
    JAX_PAIR,
    JAX_WAITS,
    KERAS,
    LIGHTGBM,
    LOADERS,
    LOADER_LOOP,
    LOADER_THAT_COMPUTES,
    NUMBERS_BOOSTERS,
    NUMBERS_JAX,
    NUMBERS_JAX_END,
    NUMBERS_KERAS,
    NUMBERS_TENSORFLOW,
    ORBAX_1,
    PMAP,
    PRICES,
    SKLEARN,
    SKLEARN_PROCESSES,
    STEPS_IN_FINALIZERS,
    SUMMARY,
    TENSORFLOW,
    TRACES,
    TWO_DEVICES,
    XGBOOST,
)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder])

    def path(self, name):
        return os.path.join(self.folder, name)

    def module(self, name, text="__version__ = '1.2.3'\n"):
        write(self.path(name), text)

    def run_command(self, *command, **settings):
        done = training.execute(command, self.folder, **settings)
        self.said = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        told = subprocess.run(
            [os.environ["STAGEPROF_TEST_REPORT"], "summary", "--format=json", self.path("run.zst")],
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(told.stdout)

    def run_script(self, text, python=sys.executable, **settings):
        write(self.path("train.py"), text)
        return self.run_command(python, "train.py", **settings)

    def assert_own_timer(self, summary, part):
        took, own = [r["ns"] for r in summary["account"] if r["part"] == part][0], int(self.said)
        self.assertAlmostEqual(took, own, delta=0.05 * own + 30 * 5000 + 2000000)

    def assert_abstains(self, summary, *texts):
        verdict = summary["verdict"]
        said = training.told(verdict), verdict["confidence"]
        self.assertEqual(said, ("not-recorded", "low"), verdict)
        for text in texts:
            self.assertIn(text, verdict["text"])

    def assert_abstains_of_whole_steps(self, summary):
        """Most time may lie outside of calls that take next to none themselves, or in compiling."""
        verdict = summary["verdict"]
        if verdict["code"] == "compile-bound":
            self.assertGreater(verdict["cost_share"], 0.5, verdict)
            return
        self.assertEqual(verdict["confidence"], "low", verdict)
        texts = {"not-recorded": "a step is one call", "unexplained": "No observed call explains"}
        self.assertIn(texts[verdict["reason"]], verdict["text"])

    def tensorflow_double(self):
        place = "tensorflow"
        self.module(place + "/__init__.py")
        for folder in ("python", "eager", "polymorphic_function"):
            place += "/" + folder
            self.module(place + "/__init__.py")
        self.module(place + "/polymorphic_function.py", GRAPHS)
        self.module("tensorflow/python/eager/backprop.py", TAPE)

    def runtime_double(self):
        for path, text in (
            ("eager/context", DEVICES),
            ("eager/executor", EXECUTOR),
            ("data/ops/iterator_ops", OWNED_ITERATOR),
            ("distribute/mirrored_run", MIRRORED),
        ):
            folders = path.split("/")[:-1]
            for depth in range(1, len(folders) + 1):
                self.module("tensorflow/python/" + "/".join(folders[:depth]) + "/__init__.py")
            self.module(f"tensorflow/python/{path}.py", text)

    def boosters_made(self):
        for package, module in (("xgboost", "core"), ("lightgbm", "basic")):
            self.module(f"{package}/__init__.py")
            self.module(f"{package}/{module}.py", BOOSTER)

    def datasets_double(self):
        self.module("datasets/__init__.py")
        self.module("datasets/arrow_dataset.py", ITERATED)

    def assert_rounds(self, summary, name):
        """25 rounds after one data set, in a program of C."""
        self.assertEqual(summary["steps"]["count"], 25)
        self.assert_named(summary, f"framework bound {name}")
        ranges = training.report("ranges", self.path("run.zst"))["ranges"]
        counts = {row["name"]: row["calls"] for row in ranges}
        rounds, sets = counts[f"step: {name} Booster.update"], counts[name + " data set"]
        self.assertEqual((rounds, sets), (25, 1))

    def pjrt_run(self, *flags):
        write(self.path("plugin.c"), PJRT_PLUGIN)
        write(self.path("main.c"), PJRT_MAIN)
        make = ["cc", "-w", "-shared", "-fPIC", "-o", "plugin.so", "plugin.c", *flags]
        subprocess.run(make, cwd=self.folder, check=True)
        subprocess.run(["cc", "-o", "main", "main.c", "-ldl"], cwd=self.folder, check=True)
        subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
        return self.run_command("./main")

    def assert_pjrt(self, summary, version):
        is_own, compiled, waited, copied, *counts = [int(word) for word in self.said.split()]
        self.assertEqual((is_own, counts), (0, [10, 1, 30, 30, 0, 10]))
        ranges = training.report("ranges", self.path("run.zst"))["ranges"]
        rows = {row["name"]: row for row in ranges}
        for name, calls, own in (
            ("pjrt compile", 1, compiled),
            ("pjrt wait", 10, waited),
            ("pjrt copy to host", 10, copied),
            ("pjrt copy to device", 30, None),
            ("pjrt execute", 30, None),
        ):
            self.assertEqual(rows[name]["calls"], calls, name)
            if own:
                delta = 0.05 * own + calls * 5000 + 1000000
                self.assertAlmostEqual(rows[name]["total_ns"], own, delta=delta, msg=name)
        self.assertNotIn("pjrt copy between devices", rows)
        self.assert_named(summary, f"framework bound pjrt {version}")
        self.assert_abstains(summary, f"steps of PJRT {version} are not")

    def assert_named(self, summary, line):
        lines = [item["text"].replace("\t", " ") for item in summary["coverage"]]
        self.assertIn(line, lines)


class Doubles(Case):
    def test_steps_of_a_framework_that_is_loaded_are_unknown(self):
        for module, title, state in (
            ("jax", "JAX 1.2.3", "loaded"),
            ("tensorflow", "TensorFlow 1.2.3", "loaded"),
            ("sklearn", "scikit-learn 1.2.3", "loaded"),
            ("thinc", "Thinc (spaCy) 1.2.3", "loaded"),
        ):
            with self.subTest(module):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.module(f"{module}/__init__.py")
                summary = self.run_script(f"import {module}\n" + READ)
                self.assert_abstains(summary, f"steps of {title} are not", "STAGEPROF_FUNCTIONS")
                self.assert_named(summary, f"framework {state} {module} 1.2.3")
                known = {row["metric"] for row in summary["verdict"]["evidence"]}
                self.assertIn("read_rate", known)

    def test_a_version_of_any_kind_harms_nobody(self):
        self.module("jax/__init__.py", "__version__ = None\n")
        self.module("keras/__init__.py", "def __getattr__(name):\n    raise RuntimeError(name)\n")
        summary = self.run_script("import jax, keras\n" + READ)
        self.assert_abstains(summary, "steps of JAX")
        self.assert_named(summary, "framework loaded jax")

    def test_each_round_of_boosting_is_a_step(self):
        for package, module in (("xgboost", "core"), ("lightgbm", "basic")):
            with self.subTest(package):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.module(f"{package}/__init__.py")
                self.module(f"{package}/{module}.py", BOOSTER)
                summary = self.run_script(BOOST.format(f"{package}.{module}"))
                self.assertEqual(summary["steps"]["count"], 25)
                self.assert_named(summary, f"framework bound {package} 1.2.3")

    def test_a_booster_whose_rounds_have_another_name(self):
        """A version that nobody knows is named, and its rounds are not made up."""
        for package, module in (("xgboost", "core"), ("lightgbm", "basic")):
            with self.subTest(package):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.module(f"{package}/__init__.py", "__version__ = '99.0'\n")
                self.module(f"{package}/{module}.py", BOOSTER.replace("update", "advance"))
                text = BOOST.format(f"{package}.{module}").replace("update", "advance")
                summary = self.run_script(text + READ)
                self.assert_abstains(summary, " 99.0 are not recorded")
                self.assert_named(summary, f"framework loaded {package} 99.0")

    def test_callbacks_of_keras_that_have_another_name(self):
        for folder in ("keras", "keras/src", "keras/src/callbacks"):
            self.module(folder + "/__init__.py")
        for old, new in (("batch_end", "batch_over"), ("CallbackList", "CallList")):
            with self.subTest(old):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                renamed = CALLBACKS.replace(old, new)
                self.module("keras/src/callbacks/callback_list.py", renamed)
                summary = self.run_script(FIT.replace(old, new) + READ)
                self.assert_abstains(summary, "steps of Keras 1.2.3 are not")
                self.assert_named(summary, "framework loaded keras 1.2.3")
                names = "framework-names failed keras.src.callbacks.callback_list"
                self.assert_named(summary, names)

    def test_a_framework_imported_after_training_began(self):
        self.tensorflow_double()
        self.boosters_made()
        summary = self.run_script(GRAPH_LOOP + BOOST.format("lightgbm.basic"))
        self.assertEqual(summary["steps"]["count"], 30 + 25)
        self.assert_abstains_of_whole_steps(summary)
        self.assert_named(summary, "framework bound tensorflow 1.2.3")
        self.assert_named(summary, "framework bound lightgbm 1.2.3")

    def test_two_frameworks_in_one_process(self):
        self.tensorflow_double()
        self.boosters_made()
        begin = GRAPH_LOOP.replace("evaluate()", "evaluate(), lightgbm.basic.Booster().update()")
        summary = self.run_script("import xgboost, lightgbm.basic\n" + begin + READ)
        self.assertEqual(summary["steps"]["count"], 30 + 7)
        self.assert_abstains_of_whole_steps(summary)
        self.assert_named(summary, "framework bound lightgbm 1.2.3")
        self.assert_named(summary, "framework loaded xgboost 1.2.3")

    def test_a_booster_that_reads_external_memory_inside_of_a_round(self):
        self.module("xgboost/__init__.py")
        self.module("xgboost/core.py", BOOSTER + DATA_ITERATOR)
        for cache in ("cache_prefix='cache'", ""):
            with self.subTest(cache):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                text = EXTERNAL_MEMORY.format(cache, "'cache'" if cache else None)
                summary = self.run_script(text + BOOST.format("xgboost.core"))
                self.assertEqual(summary["steps"]["count"], 25)
                if cache:
                    self.assert_abstains(summary, "external memory")
                else:
                    self.assertNotIn("external memory", summary["verdict"]["text"])

    def assert_whole_steps(self, summary, count):
        self.assert_abstains_of_whole_steps(summary)
        self.assertEqual(summary["steps"]["count"], count)
        known = {row["metric"] for row in summary["verdict"]["evidence"]}
        self.assertLessEqual({"steps", "update_share"}, known)
        parts = {row["part"]: row["ns"] for row in summary["account"]}
        self.assertTrue(parts["update"])
        self.assertFalse(parts["optimizer"])
        return parts["update"]

    def test_a_batch_of_keras_fit_is_a_step(self):
        for folder in ("keras", "keras/src", "keras/src/callbacks"):
            self.module(folder + "/__init__.py")
        self.module("keras/src/callbacks/callback_list.py", CALLBACKS)
        summary = self.run_script(FIT)
        took, spent = self.assert_whole_steps(summary, 24), int(self.said)
        self.assertAlmostEqual(took, spent, delta=0.05 * spent + 24 * 5000 + 2000000)
        self.assert_named(summary, "framework bound keras 1.2.3")
        report = [os.environ["STAGEPROF_TEST_REPORT"], "-v", self.path("run.zst")]
        told = subprocess.run(report, stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn("Keras 1.2.3: some steps, checkpoints\n", told)

    def assert_waits(self, summary, calls):
        waits = [row["ns"] for row in summary["account"] if row["part"] == "loader_wait"]
        waited = int(self.said)
        self.assertAlmostEqual(waits[0], waited, delta=0.05 * waited + calls * 5000 + 2000000)
        known = {row["metric"] for row in summary["verdict"]["evidence"]}
        self.assertTrue({"input_wait_share", "loader_wait_share"} & known, known)

    def test_a_wait_inside_of_a_batch_of_keras_is_no_part_of_its_step(self):
        for folder in ("", "/src", "/src/callbacks", "/src/backend", "/src/backend/jax"):
            self.module("keras" + folder + "/__init__.py")
        self.module("keras/src/callbacks/callback_list.py", CALLBACKS)
        self.module("keras/src/backend/jax/trainer.py", EPOCHS)
        summary = self.run_script(INNER_WAIT)
        self.assertLess(self.assert_whole_steps(summary, 24), int(self.said))
        self.assert_waits(summary, 24)

    def test_iterators_of_one_loader_wait_once(self):
        self.tensorflow_double()
        for folder in ("/_src", "/_src/python", "/_src/python/dataset"):
            self.module("grain" + folder + "/__init__.py")
        self.module("grain/__init__.py", "from grain._src.python.dataset import dataset\n")
        self.module("grain/_src/python/dataset/dataset.py", NESTED)
        summary = self.run_script(NESTED_LOOP)
        self.assert_whole_steps(summary, 40)
        self.assert_waits(summary, 41)

    def test_data_sets_that_a_loop_iterates(self):
        """Each next() is a wait, whichever iterator asks another one; map() asks for none."""
        self.tensorflow_double()
        self.datasets_double()
        summary = self.run_script(ITERATED_LOOP)
        self.assert_whole_steps(summary, 60)
        ranges = training.report("ranges", self.path("run.zst"))["ranges"]
        counts = {row["name"]: row["calls"] for row in ranges}
        self.assertEqual((counts["datasets map"], counts["datasets next"]), (1, 2 * 31 + 2))
        self.assert_waits(summary, 62)

    def test_a_compiled_function_that_takes_gradients_is_a_step(self):
        self.tensorflow_double()
        self.assert_whole_steps(self.run_script(GRAPH_LOOP), 30)

    def test_gradients_outside_of_compiled_functions_are_a_backward(self):
        self.tensorflow_double()
        summary = self.run_script(EAGER_LOOP)
        self.assertEqual(summary["steps"]["count"], 30)
        parts = {row["part"]: row["ns"] for row in summary["account"]}
        self.assertTrue(parts["backward"])
        self.assertFalse(parts["update"])
        self.assert_abstains(summary, "not all parts of a step of TensorFlow 1.2.3")

    def test_checkpoints(self):
        self.tensorflow_double()
        for path in SAVERS:
            folders = path.split("/")[:-1]
            for depth in range(1, len(folders) + 1):
                self.module("/".join(folders[:depth]) + "/__init__.py")
            self.module(path + ".py", SAVER)
        summary = self.run_script(SAVE_LOOP)
        self.assertEqual(summary["steps"]["count"], 31)
        self.assert_own_timer(summary, "checkpoint")
        verdict = summary["verdict"]
        self.assertEqual(verdict["code"], "checkpoint-bound")
        self.assertNotEqual(verdict["confidence"], "high")  # a busy machine makes it low

    def test_a_processor_has_made_the_step_when_its_call_returns(self):
        """Other devices, and calls that return ahead, may hide the waits for batches."""
        for kinds, more, is_known in (
            (["CPU", "CPU"], "", True),
            (["CPU", "GPU"], "", False),
            (["CPU"], "new_executor(enable_async=True)", False),
        ):
            with self.subTest(kinds=kinds, more=more):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.tensorflow_double()
                self.runtime_double()
                summary = self.run_script(DEVICE_LOOP.format(kinds, more))
                self.assertEqual(summary["steps"]["count"], 40)
                if not is_known:
                    self.assert_abstains_of_whole_steps(summary)
                    continue
                self.assertEqual(summary["verdict"]["code"], "input-bound")
                known = {row["metric"]: row["value"] for row in summary["verdict"]["evidence"]}
                self.assertEqual(known["lost_wait_share"], known["loader_wait_share"])

    def test_iterators_of_tensorflow_that_begin_and_end(self):
        """The old iterator is dropped where the new one takes its name."""
        self.tensorflow_double()
        self.runtime_double()
        self.module("tensorflow/python/data/ops/iterator_ops.py", ITERATED_DATA)
        again = "from tensorflow.python.data.ops.iterator_ops import OwnedIterator\n"
        base = again + ITERATED_DATA.partition("\nclass DatasetV2")[2].join(
            ("import time\nclass DatasetV2", "")
        )
        self.module("tensorflow/python/data/ops/dataset_ops.py", base)
        summary = self.run_script(EPOCHS_OF_DATA)
        self.assertEqual(summary["steps"]["count"], 48)
        self.assert_own_timer(summary, "loader_wait")

    def test_waits_for_arrays_of_jax_of_2024(self):
        self.tensorflow_double()
        for folder in ("jax", "jax/_src"):
            self.module(folder + "/__init__.py")
        self.module("jax/_src/array.py", ARRAY_OF_2024)
        summary = self.run_script(ARRAY_LOOP)
        self.assert_whole_steps(summary, 31)
        self.assert_own_timer(summary, "sync_wait")

    def test_annotations_of_jax(self):
        """One that is entered again has lost its name, and harms nobody."""
        for folder in ("jax", "jax/_src"):
            self.module(folder + "/__init__.py")
        self.module("jax/_src/profiler.py", ANNOTATION)
        self.run_script(ANNOTATION_LOOP + READ)
        ranges = training.report("ranges", self.path("run.zst"))["ranges"]
        counts = {row["name"]: row["calls"] for row in ranges}
        self.assertEqual(counts, {"outer": 5, "inner": 5, "twice": 1})

    def test_a_compiled_function_of_an_unknown_layout_is_left_alone(self):
        for folder in ("jax", "jax/_src", "jaxlib"):
            self.module(folder + "/__init__.py")
        self.module("jax/_src/pjit.py", PJIT)
        library = "def pjit(name, function):\n    from jax._src.pjit import PjitFunction\n"
        self.module("jaxlib/xla_extension.py", library + "    return PjitFunction(function)\n")
        self.assert_abstains(self.run_script(JIT_LOOP + READ), "steps of JAX")

    def test_libraries_without_python(self):
        for library, line, code in (
            ("libtorch_cpu.so", "framework loaded libtorch", "not-recorded"),
            ("libtensorflow_cc.so.2", "framework loaded tensorflow", "not-recorded"),
            ("libxgboost.so", "framework loaded xgboost", "not-recorded"),
            ("libmpi.so.40", "framework loaded mpi", "no-training"),
        ):
            with self.subTest(library):
                write(self.path("double.c"), NATIVE)
                write(self.path("main.c"), MAIN)
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                make = f"cc -shared -fPIC -o {library} double.c && cc -o main main.c ./{library}"
                subprocess.run(["bash", "-c", make], cwd=self.folder, check=True)
                summary = self.run_command("./main")
                self.assert_named(summary, line)
                self.assertEqual(summary["verdict"]["reason"], code)
                self.assertEqual(summary["verdict"]["confidence"], "low")

    def test_the_api_of_libtorch_without_python(self):
        body = ""
        for name in LIBTORCH_NAMES.values():
            body += LIBTORCH_BODY.format(name)
            body += "{ return a + (b - a) + (c - a) + (d - a) + (e - a) + (f - a); }\n"
        main = "".join(LIBTORCH_BODY.format(name) + ";\n" for name in LIBTORCH_NAMES.values())
        for short, name in LIBTORCH_NAMES.items():
            main += f"#define {short} {name}\n"
        write(self.path("double.c"), body)
        write(self.path("main.c"), main + LIBTORCH_MAIN)
        make = "cc -shared -fPIC -o libtorch_cpu.so double.c && cc -o main main.c ./libtorch_cpu.so"
        subprocess.run(["bash", "-c", make], cwd=self.folder, check=True)
        summary = self.run_command("./main")
        steps = summary["steps"]
        self.assertEqual((steps["count"], steps["end_with"]), (10, "optimizer"))
        self.assert_abstains(summary, "not all parts of a step of libtorch")
        self.assert_named(summary, "framework bound libtorch")

    def test_rounds_of_boosting_without_python(self):
        """Linked, and found by dlsym. One function that calls another is one round."""
        write(self.path("double.c"), ROUNDS_DOUBLE)
        write(self.path("main.c"), ROUNDS_MAIN)
        make = "cc -shared -fPIC -o libxgboost.so double.c && cc -o main main.c "
        for ways in ("./libxgboost.so", "-D LOOKED_UP -ldl"):
            with self.subTest(ways):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                subprocess.run(["bash", "-c", make + ways], cwd=self.folder, check=True)
                self.assert_rounds(self.run_command("./main"), "xgboost")

    def test_sessions_of_tensorflow_without_python(self):
        """Linked, and found by dlsym. No call shows what a run does, so the report abstains."""
        write(self.path("double.c"), SESSION_DOUBLE)
        write(self.path("main.c"), SESSION_MAIN)
        make = "cc -shared -fPIC -o libtensorflow.so.2 double.c && cc -o main main.c "
        for ways in ("./libtensorflow.so.2", "-D LOOKED_UP -ldl"):
            with self.subTest(ways):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                subprocess.run(["bash", "-c", make + ways], cwd=self.folder, check=True)
                summary = self.run_command("./main")
                self.assert_abstains(summary)
                self.assert_named(summary, "framework loaded tensorflow")
                ranges = training.report("ranges", self.path("run.zst"))["ranges"]
                counts = {row["name"]: row["calls"] for row in ranges}
                self.assertEqual(counts, {"tensorflow session run": 7})

    def test_a_plugin_of_pjrt_without_python(self):
        """Two versions that are known, and a plugin of a later one with a longer table."""
        for words, minor in ((97, 33), (133, 90), (150, 120)):
            with self.subTest(minor):
                flags = [f"-D{k}={v}" for k, v in dict(WORDS=words, MAJOR=0, MINOR=minor).items()]
                self.assert_pjrt(self.pjrt_run(*flags), f"0.{minor}")

    def test_a_plugin_of_pjrt_of_an_unknown_version_is_left_alone(self):
        for words, major, minor in ((133, 1, 0), (97, 0, 12), (90, 0, 90)):
            with self.subTest((words, major, minor)):
                values = dict(WORDS=words, MAJOR=major, MINOR=minor)
                summary = self.pjrt_run(*(f"-D{k}={v}" for k, v in values.items()))
                self.assertEqual(self.said[:2], "1 ")
                self.assert_named(summary, f"framework loaded pjrt {major}.{minor}")
                self.assert_abstains(summary, f"steps of PJRT {major}.{minor} are not")

    def test_rounds_found_by_ctypes(self):
        """Python's call is the round, and what it calls by ctypes is none of its own."""
        write(self.path("double.c"), ROUNDS_DOUBLE)
        make = ["cc", "-shared", "-fPIC", "-o", "libxgboost.so", "double.c"]
        subprocess.run(make, cwd=self.folder, check=True)
        self.module("xgboost/__init__.py")
        body = "\n    def update(self):\n        assert not by_hand()\n"
        hand = "import ctypes\nlibrary = ctypes.CDLL('./libxgboost.so')\ndef by_hand():\n"
        hand += "    return library.XGBoosterTrainOneIter(b'1', b'1', 1, b'1', b'1')\n"
        self.module("xgboost/core.py", hand + "class Booster:" + body)
        text = BOOST.format("xgboost.core") + "from xgboost.core import by_hand\n"
        summary = self.run_script(text + "for _ in range(5): assert not by_hand()\n")
        self.assertEqual(summary["steps"]["count"], 25 + 5)

    def test_a_program_without_a_framework(self):
        summary = self.run_script(READ)
        self.assertEqual(summary["verdict"]["reason"], "no-training")
        self.assertEqual(summary["verdict"]["confidence"], "low")
        self.assertEqual([c for c in summary["coverage"] if c["text"].startswith("frame")], [])


def trainer_or_skip():
    """Skips this test alone: most of the others need no framework."""
    try:
        return training.interpreter()
    except SystemExit as ended:
        raise unittest.SkipTest("no interpreter has PyTorch") from ended


class Loader(Case):
    def setUp(self):
        super().setUp()
        self.python = trainer_or_skip()

    def assert_waits_shown(self, summary):
        """A batch is an iteration of the loop; the wait for it is the program's own timer's."""
        self.assertEqual((summary["steps"]["count"], summary["steps"]["end_with"]), (45, "batch"))
        waits = [row["ns"] for row in summary["account"] if row["part"] == "loader_wait"]
        waited = int(self.said)
        self.assertAlmostEqual(waits[0], waited, delta=0.05 * waited + 45 * 5000 + 2000000)
        known = {row["metric"] for row in summary["verdict"]["evidence"]}
        self.assertLessEqual({"loop_batches", "loop_wait_share"}, known)

    def test_a_torch_loader_in_front_of_another_framework(self):
        self.module("jax/__init__.py")
        summary = self.run_script("import jax\n" + LOADER, self.python)
        self.assert_abstains(summary, "steps of JAX 1.2.3 are not")
        self.assertIn("framework bound torch", json.dumps(summary).replace("\\t", " "))
        self.assert_waits_shown(summary)

    def test_a_torch_loader_in_front_of_code_of_ones_own(self):
        summary = self.run_script(LOADER, self.python)
        self.assert_abstains(summary, "a DataLoader gave batches")
        self.assert_waits_shown(summary)

    def test_pytorch_beside_a_framework_that_gives_parts_of_steps(self):
        """PyTorch's whole steps do not vouch for the steps of TensorFlow."""
        self.tensorflow_double()
        loop = EAGER_LOOP.replace("range(30)", "range(200)")
        loop = loop.replace("    Grad", "    time.sleep(0.002)\n    Grad")
        summary = self.run_script("import time, torch\n" + loop, self.python)
        self.assertEqual(summary["steps"]["count"], 200)
        self.assert_abstains(summary, "not all parts of a step of TensorFlow 1.2.3")

    def test_a_data_set_of_another_project_that_a_loader_fetches_from(self):
        self.datasets_double()
        summary = self.run_script(FETCHED_LOOP, self.python)
        self.assertEqual(summary["steps"]["count"], 15)
        ranges = training.Run(self.path("run.zst")).ranges
        parts = [each.part for each in ranges if each.name == "datasets next"]
        self.assertEqual(parts, ["dataset"] * 30)

    def test_text_that_a_model_makes(self):
        self.module("transformers/__init__.py")
        self.module("transformers/generation/__init__.py")
        self.module("transformers/generation/utils.py", GENERATE)
        summary = self.run_script(TEXT_LOOP, self.python)
        self.assertEqual(summary["steps"]["count"], 30)
        self.assert_own_timer(summary, "generation")
        self.assertEqual(summary["verdict"]["code"], "generation-bound")

    def test_three_frameworks_in_one_thread(self):
        """A round of boosting is a step, between whatever steps of others. TensorFlow gives parts
        of steps alone; without it the verdict is not that nothing is recorded."""
        self.tensorflow_double()
        self.boosters_made()
        for eager, is_told in (("GradientTape().gradient(1)", False), ("pass", True)):
            with self.subTest(eager):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                summary = self.run_script(THREE_LOOPS.format(eager), self.python)
                self.assertEqual(summary["steps"]["count"], 30 + 2 * 30)
                if is_told:
                    verdict = summary["verdict"]
                    self.assertNotEqual(verdict["confidence"], "high", verdict)
                    if verdict["reason"] != "machine-busy":
                        self.assertIn("several frameworks", " ".join(verdict["doubts"]))
                else:
                    self.assert_abstains(summary, "not all parts of a step of TensorFlow 1.2.3")

    def test_a_model_that_is_called_evaluates(self):
        text = LOADER.replace("batch.numpy().sum()", "model(batch)")
        model = "model = torch.nn.Linear(4, 4).to('cpu')\n"
        text = text.replace("begin =", model + "begin =", 1)
        with_model = self.run_script(text, self.python)
        self.assertEqual(with_model["verdict"]["reason"], "no-steps")
        self.assertFalse(with_model["steps"]["count"])


@unittest.skipUnless(NIGHTLY, "--nightly runs the frameworks themselves")
class Themselves(Case):
    def setUp(self):
        super().setUp()
        self.python = training.frameworks()

    def assert_one_call(self, summary, count):
        self.assert_abstains_of_whole_steps(summary)
        self.assertEqual(summary["steps"]["count"], count)

    def assert_fed(self, summary, count):
        """A loop that asks a loader, and JAX for the device: the verdict names something."""
        self.assertNotEqual(summary["verdict"]["reason"], "not-recorded", summary["verdict"])
        self.assertEqual(summary["steps"]["count"], count)

    def answers(self):
        """The device's answers, by the state that they say."""
        ranges = training.report("ranges", self.path("run.zst"))["ranges"]
        rows = {row["name"].split(" in a wait")[0]: row["calls"] for row in ranges}
        return [rows.get("device " + word, 0) for word in ("idle", "busy", "finished")]

    def test_what_the_device_does_while_the_loop_waits(self):
        """A loss of the step before is read while the device works on the step."""
        for read, width, wait, is_input in (
            ("float(loss)", 64, 0.03, True),
            ("if int(rows[0, 0]) % 8 == 7: float(loss)", 64, 0.03, True),
            ("pass", 1024, 0.002, False),
            ("before is None or float(before)", 1024, 0.002, False),
        ):
            with self.subTest(read):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                text = DEVICE_LOOP_OF_JAX.format(read=read, width=width, wait=wait)
                summary = self.run_script(text, self.python)
                self.said = self.said.split()[0]
                self.assertEqual(summary["steps"]["count"], 61)
                self.assert_part(summary, "loader_wait")
                idle, busy, finished = self.answers()
                code = training.told(summary["verdict"])
                if is_input:
                    self.assertGreater(idle + finished, 50)
                    self.assertIn(code, ("input-bound", "machine-busy"))
                else:
                    self.assertGreater(busy, 30)
                    self.assertNotIn(code, ("input-bound", "first-batch-bound"))

    def test_a_loader_that_computes_on_the_device(self):
        """Work of the loader at the end of a wait does not hide the wait."""
        summary = self.run_script(LOADER_THAT_COMPUTES, self.python)
        self.assertEqual(summary["steps"]["count"], 60)
        idle, busy, finished = self.answers()
        self.assertGreater(idle + finished, 3 * busy)
        self.assertNotEqual(summary["verdict"]["code"], "compute-bound")

    def test_finalizers_that_call_the_step(self):
        self.run_script(STEPS_IN_FINALIZERS, self.python)
        self.assertAlmostEqual(float(self.said), -35.1, delta=0.1)

    def test_a_short_call_beside_a_long_step(self):
        self.run_script(TWO_DEVICES, self.python)
        idle, busy, finished = self.answers()
        self.assertLessEqual(idle, int(self.said) + 1)
        self.assertGreater(busy + finished, 30)

    def test_jax_maps(self):
        self.assert_one_call(self.run_script(PMAP, self.python), 40)

    def test_jax(self):
        self.assert_one_call(self.run_script(JAX, self.python), 40)

    def test_a_pass_of_jax_beside_recorded_steps_may_train(self):
        for beside in ("step.lower(w, x).compile()", "take"):
            with self.subTest(beside):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                summary = self.run_script(JAX_BESIDE.format(beside), self.python)
                self.assertEqual(summary["steps"]["count"], 30)
                self.assert_abstains(summary, "where no step is recorded")

    def test_functions_of_tensorflow_that_are_traced_again(self):
        summary = self.run_script(TRACES, self.python)
        self.assertEqual(summary["steps"]["count"], 30)
        parts = {row["part"]: row["ns"] for row in summary["account"]}
        self.assertGreater(2 * parts["compile"], parts["update"])
        self.assertIn(training.told(summary["verdict"]), ("compile-bound", "machine-busy"))
        for advice in summary["advice"]:
            self.assertNotIn("JAX", advice["text"])

    def test_jax_with_gradients_that_another_function_applies(self):
        self.assert_one_call(self.run_script(JAX_PAIR, self.python), 39)

    def assert_part(self, summary, part):
        took, own = [r["ns"] for r in summary["account"] if r["part"] == part][0], int(self.said)
        self.assertAlmostEqual(took, own, delta=0.05 * own + 60 * 5000)

    def test_waits_for_arrays_of_jax(self):
        summary = self.run_script(JAX_WAITS, self.python)
        self.assert_one_call(summary, 60)
        self.assert_part(summary, "sync_wait")

    def test_waits_for_grain(self):
        summary = self.run_script(GRAIN, self.python)
        self.assert_fed(summary, 40)
        self.assert_part(summary, "loader_wait")

    def test_waits_for_loaders_of_other_projects(self):
        """Waits are the loop's own timer's, and steps those of JAX, which takes the batches."""
        for loader, text in LOADERS.items():
            with self.subTest(loader):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                summary = self.run_script(LOADER_LOOP.format(text), self.python)
                count, self.said = self.said.split()
                self.assert_fed(summary, int(count))
                self.assert_part(summary, "loader_wait")

    def test_the_first_version_of_orbax(self):
        summary = self.run_script(ORBAX_1, self.python)
        self.assertEqual(summary["steps"]["count"], 13)
        self.assertEqual(summary["verdict"]["code"], "checkpoint-bound")
        self.assert_part(summary, "checkpoint")

    def test_summaries_of_tensorflow(self):
        summary = self.run_script(SUMMARY, self.python)
        self.assert_one_call(summary, 31)
        self.assert_part(summary, "bookkeeping")

    def test_annotations_of_jax(self):
        self.run_script(ANNOTATIONS, self.python)
        ranges = training.report("ranges", self.path("run.zst"))["ranges"]
        rows = {row["name"]: row for row in ranges}
        counts = {name: row["calls"] for name, row in rows.items()}
        expected = {"train": 10, "half": 10, "load": 10, "broken": 1}
        self.assertEqual({name: counts.get(name) for name in expected}, expected)
        self.assertGreaterEqual(rows["train"]["total_ns"], 30000000)
        self.assertLess(rows["train"]["self_ns"], rows["half"]["total_ns"])

    def test_jax_without_gradients(self):
        summary = self.run_script(JAX.replace("w = step(w,", "w = look(w,"), self.python)
        self.assert_abstains(summary, "steps of JAX 0.")

    def test_jax_compiles_no_more_than_without_us(self):
        """The compiled programs, by their keys in the cache. Its path is in the keys."""
        kept, cache = [], self.path("cache")
        for settings in ({}, {"STAGEPROF_PYTHON": "0"}):
            text = CACHE.format(cache) + JAX
            subprocess.run(["rm", "-rf", self.path("run.zst"), cache], check=True)
            self.run_script(text, self.python, **settings)
            kept.append(sorted(name for name in os.listdir(cache) if name.endswith("-cache")))
        self.assertTrue(kept[0])
        self.assertEqual(kept[0], kept[1])

    def assert_same_numbers(self, text, **settings):
        """The output is the same to the last byte, with and without the library."""
        write(self.path("train.py"), text)
        told = []
        for traced in (False, True):
            command = ["env", *(f"{k}={v}" for k, v in settings.items()), self.python, "train.py"]
            done = training.execute(command, self.folder, traced)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            told.append(done.stdout.decode())
        self.assertGreater(len(told[0]), 64)
        self.assertEqual(told[0], told[1])
        self.assertTrue(training.report("steps", self.path("run.zst"))["steps"])

    def test_numbers_of_jax_stay_the_same(self):
        for text in (JAX, JAX_PAIR):
            with self.subTest(text.split()[-1]):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.assert_same_numbers(NUMBERS_JAX + text + NUMBERS_JAX_END)

    def test_numbers_of_keras_stay_the_same(self):
        for backend in ("jax", "tensorflow"):
            with self.subTest(backend):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.assert_same_numbers(NUMBERS_KERAS, KERAS_BACKEND=backend)

    def test_numbers_of_tensorflow_stay_the_same(self):
        self.assert_same_numbers(NUMBERS_TENSORFLOW)

    def test_numbers_of_boosters_stay_the_same(self):
        self.assert_same_numbers(DATA + NUMBERS_BOOSTERS)

    def test_a_call_of_jax_costs_less_than_a_microsecond(self):
        prices = []
        for settings in ({}, {"STAGEPROF_PYTHON": "0"}):
            subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
            self.run_script(PRICES, self.python, **settings)
            prices.append([float(word) for word in self.said.split()])
        added = [round(ours - plain) for ours, plain in zip(*prices)]
        print("a compiled function, a step, np.asarray, block_until_ready:", added, "ns")
        self.assertLess(max(added), 1000)

    def test_keras_fit(self):
        for backend in ("jax", "tensorflow"):
            with self.subTest(backend):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                summary = self.run_script(KERAS, self.python, KERAS_BACKEND=backend)
                steps = self.assert_fed if backend == "jax" else self.assert_one_call
                steps(summary, 3 * 20 + 10)

    def test_a_function_of_tensorflow(self):
        text = TENSORFLOW.replace("for i in", "@tf.function\ndef step():", 1)
        text = text.replace(" range(30):", "", 1) + "    return loss\n"
        text += "for i in range(30):\n    step()\n"
        self.assert_one_call(self.run_script(DATA + text, self.python), 30)

    def test_a_torch_loader_in_front_of_jax(self):
        text = LOADER.replace("batch.numpy().sum()", "float(jax.numpy.sum(batch.numpy()))")
        summary = self.run_script("import jax\n" + text, self.python)
        self.assert_abstains(summary, "JAX 0.")
        self.assertEqual((summary["steps"]["count"], summary["steps"]["end_with"]), (45, "batch"))

    def test_a_stateful_loader_in_front_of_jax(self):
        """Waits of torchdata's loader with and without workers; steps are JAX's."""
        text = LOADER.replace("import DataLoader, Dataset", "import Dataset", 1)
        text = "from torchdata.stateful_dataloader import StatefulDataLoader as DataLoader\n" + text
        text = text.replace("batch.numpy().sum()", "w = step(w, batch.numpy())")
        text = JAX.split("w = jnp.ones")[0] + "w = jnp.ones((4, 2))\n" + text
        for workers in ("", ", num_workers=1"):
            with self.subTest(workers):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                loop = text.replace("batch_size=2", "batch_size=2" + workers)
                summary = self.run_script(loop, self.python)
                self.assert_fed(summary, 45)
                parts = {row["part"]: row["ns"] for row in summary["account"]}
                own = int(self.said)
                delta = 0.05 * own + 45 * 5000 + 2000000
                self.assertAlmostEqual(parts["loader_wait"], own, delta=delta)

    def digits_made(self, output, *flags):
        """libtorch's own headers and libraries are parts of PyTorch's package."""
        ask = "import os, torch; print(os.path.dirname(torch.__file__))"
        command = [trainer_or_skip(), "-c", ask]
        told = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        torch = told.stdout.decode().strip()
        headers = [torch + "/include", torch + "/include/torch/csrc/api/include"]
        source = os.path.join(training.TRAINERS, "digits.cpp")
        libraries = [f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", "-Wl,--no-as-needed"]
        command = ["c++", "-std=c++20", *flags, *(f"-I{folder}" for folder in headers), source]
        command += ["-o", output, *libraries, "-ltorch", "-ltorch_cpu", "-lc10"]
        subprocess.run(command, cwd=self.folder, check=True)

    def assert_digits(self, summary):
        steps, *timers = [int(word) for word in self.said.split()]
        self.assertEqual((summary["steps"]["count"], steps), (938, 938))
        rows = training.report("steps", self.path("run.zst"))["steps"][1:]
        for part, own in zip(("backward", "optimizer"), timers):
            took = sum(row["parts"][part] for row in rows)
            self.assertAlmostEqual(took, own, delta=0.05 * own + 938 * 5000, msg=part)
        self.assert_abstains(summary, "libtorch")

    def test_libtorch(self):
        self.digits_made("digits")
        self.assert_digits(self.run_command("./digits"))

    def test_libtorch_in_a_plugin(self):
        self.digits_made("digits.so", "-DPLUGIN", "-shared", "-fPIC")
        write(self.path("main.c"), PLUGIN_MAIN)
        subprocess.run(["cc", "-o", "main", "main.c", "-ldl"], cwd=self.folder, check=True)
        self.assert_digits(self.run_command("./main"))

    def test_a_program_of_mpi(self):
        write(self.path("job.c"), MPI)
        write(self.path("data"), "0" * 65536)
        make = ["cc", "-o", "job", "job.c", "-l:libmpi.so.40"]
        subprocess.run(make, cwd=self.folder, check=True)
        ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "./job"]
        summary = self.run_command(*ranks)
        self.assertEqual(summary["verdict"]["reason"], "no-training")
        self.assertEqual(summary["verdict"]["confidence"], "low")
        self.assert_named(summary, "framework loaded mpi")
        files = training.report("files", self.path("run.zst"))["files"]
        reads = [row["reads"] for row in files if row["name"].endswith("/data")]
        self.assertEqual(reads, [100])

    def test_iterations_of_sklearn_are_not_made_up(self):
        """joblib's workers are processes of the run; none of their work is a step."""
        text = SKLEARN_PROCESSES.format(self.path("rows.npy"))
        summary = self.run_script(text, self.python)
        self.assert_abstains(summary, "scikit-learn 1.")
        self.assertEqual(summary["steps"]["count"], 0)
        files = training.report("files", self.path("run.zst"))["files"]
        opens = [row["opens"] for row in files if row["name"].endswith("/rows.npy")]
        self.assertEqual(opens, [1 + 6])

    def test_boosting(self):
        for name, text in (("xgboost", XGBOOST), ("lightgbm", LIGHTGBM)):
            with self.subTest(name):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                summary = self.run_script(DATA + text, self.python)
                self.assertEqual(summary["steps"]["count"], 25 + 12)

    def test_boosting_without_python(self):
        """The libraries in the wheels, linked to programs of C."""
        ask = "import xgboost, lightgbm; print(xgboost.__file__, lightgbm.__file__)"
        told = subprocess.run([self.python, "-c", ask], stdout=subprocess.PIPE, check=True)
        texts, files = (XGBOOST_MAIN, LIGHTGBM_MAIN), ("libxgboost.so", "lib_lightgbm.so")
        for text, file, package in zip(texts, files, told.stdout.decode().split()):
            with self.subTest(file):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                write(self.path("main.c"), text)
                folder = os.path.join(os.path.dirname(package), "lib")
                make = ["cc", "-o", "main", "main.c", f"-L{folder}", f"-Wl,-rpath,{folder}"]
                make += ["-l:" + file, "-Wl,--allow-shlib-undefined"]
                subprocess.run(make, cwd=self.folder, check=True)
                name = os.path.basename(os.path.dirname(package))
                self.assert_rounds(self.run_command("./main"), name)

    def test_a_plugin_by_the_published_header(self):
        """TensorFlow's wheel has it."""
        ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
        told = subprocess.run([self.python, "-c", ask], stdout=subprocess.PIPE, check=True)
        folder = told.stdout.decode().strip() + "/tensorflow/include/tensorflow/compiler"
        header = folder + "/xla/pjrt/c/pjrt_c_api.h"
        with open(header) as file:
            minor = file.read().split("#define PJRT_API_MINOR ")[1].split()[0]
        self.assert_pjrt(self.pjrt_run(f'-DHEADER="{header}"'), "0." + minor)

    def test_fits_without_calls_of_a_step(self):
        for title, text in (("CatBoost 1.", CATBOOST), ("scikit-learn 1.", SKLEARN)):
            with self.subTest(title):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.assert_abstains(self.run_script(DATA + text, self.python), title)

    def test_tensorflow(self):
        summary = self.run_script(DATA + TENSORFLOW, self.python)
        steps = summary["steps"]
        self.assertEqual((steps["count"], steps["end_with"]), (30, "backward"))
        self.assert_abstains(summary, "TensorFlow 2.")


@unittest.skipUnless(OLD, "--2024 runs the frameworks of two years ago")
class TwoYearsOld(Case):
    """The programs that the newest versions run, too."""

    assert_one_call = Themselves.assert_one_call
    assert_fed = Themselves.assert_fed
    assert_part = Themselves.assert_part
    test_jax_maps = Themselves.test_jax_maps
    test_jax = Themselves.test_jax
    test_pair = Themselves.test_jax_with_gradients_that_another_function_applies
    test_waits = Themselves.test_waits_for_arrays_of_jax
    test_keras_fit = Themselves.test_keras_fit
    test_a_function_of_tensorflow = Themselves.test_a_function_of_tensorflow
    test_tensorflow = Themselves.test_tensorflow
    test_summaries_of_tensorflow = Themselves.test_summaries_of_tensorflow
    test_annotations_of_jax = Themselves.test_annotations_of_jax
    test_boosting = Themselves.test_boosting
    test_boosting_without_python = Themselves.test_boosting_without_python
    assert_same_numbers = Themselves.assert_same_numbers
    test_numbers_of_jax = Themselves.test_numbers_of_jax_stay_the_same
    test_numbers_of_keras = Themselves.test_numbers_of_keras_stay_the_same

    def setUp(self):
        super().setUp()
        self.python = training.frameworks(2024)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], defaultTest="TwoYearsOld" if OLD else None)
