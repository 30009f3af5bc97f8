# SPDX-License-Identifier: Apache-2.0
"""Programs that another framework than PyTorch or Paddle trains: it is named, its steps are exact
or the report abstains.

    frameworks.py [--nightly]

Doubles stand for the frameworks. --nightly: the frameworks themselves, by the interpreter in
build/venv-frameworks (scripts/requirements-frameworks.txt).
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import training

NIGHTLY = "--nightly" in sys.argv
READ = """
data = open(__file__, "rb", buffering=0)
for _ in range(200):
    data.seek(0)
    data.read(100)
"""
LOADER = """
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 90

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(4)

waited, batches = 0, iter(DataLoader(Rows(), batch_size=2))
for _ in range(45):
    begin = time.perf_counter_ns()
    batch = next(batches)
    waited += time.perf_counter_ns() - begin
    batch.numpy().sum()
    time.sleep(0.001)
print(next(batches, waited))
"""
BOOSTER = """
class Booster:
    def update(self, rounds=1):
        return sum(range(1000))
"""
BOOST = """
from {0} import Booster
booster = Booster()
for _ in range(25):
    booster.update()
"""
NATIVE = "int framework_double(void) { return 3; }\n"
MAIN = """
#include <stdio.h>
int framework_double(void);
int main(void)
{
	char text[8];
	FILE *file = fopen("/proc/self/maps", "r");

	return !file || !fread(text, 1, sizeof(text), file) || framework_double() != 3;
}
"""


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

    def assert_abstains(self, summary, *texts):
        verdict = summary["verdict"]
        self.assertEqual((verdict["code"], verdict["confidence"]), ("cannot-tell", "low"), verdict)
        for text in texts:
            self.assertIn(text, verdict["text"])

    def assert_named(self, summary, line):
        lines = [item["text"].replace("\t", " ") for item in summary["coverage"]]
        self.assertIn(line, lines)


class Doubles(Case):
    def test_steps_of_a_framework_that_is_loaded_are_unknown(self):
        for module, title in (
            ("jax", "JAX 1.2.3"),
            ("tensorflow", "TensorFlow 1.2.3"),
            ("sklearn", "scikit-learn 1.2.3"),
        ):
            with self.subTest(module):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.module(f"{module}/__init__.py")
                summary = self.run_script(f"import {module}\n" + READ)
                self.assert_abstains(summary, f"steps of {title} are not", "STAGEPROF_FUNCTIONS")
                self.assert_named(summary, f"framework loaded {module} 1.2.3")
                known = {row["measure"] for row in summary["verdict"]["evidence"]}
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

    def test_libraries_without_python(self):
        for library, line, code in (
            ("libtorch_cpu.so", "framework loaded libtorch", "cannot-tell"),
            ("libtensorflow_cc.so.2", "framework loaded tensorflow", "cannot-tell"),
            ("libxgboost.so", "framework loaded xgboost", "cannot-tell"),
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
                self.assertEqual(summary["verdict"]["code"], code)
                self.assertEqual(summary["verdict"]["confidence"], "low")

    def test_a_program_without_a_framework(self):
        summary = self.run_script(READ)
        self.assertEqual(summary["verdict"]["code"], "no-training")
        self.assertEqual(summary["verdict"]["confidence"], "low")
        self.assertEqual([c for c in summary["coverage"] if c["text"].startswith("frame")], [])


class Loader(Case):
    def setUp(self):
        super().setUp()
        self.python = training.interpreter()

    def assert_waits_shown(self, summary):
        """A batch is an iteration of the loop; the wait for it is the program's own timer's."""
        self.assertEqual((summary["steps"]["count"], summary["steps"]["end_with"]), (45, "batch"))
        waits = [row["ns"] for row in summary["account"] if row["part"] == "loader_wait"]
        waited = int(self.said)
        self.assertAlmostEqual(waits[0], waited, delta=0.05 * waited + 45 * 5000 + 2000000)
        known = {row["measure"] for row in summary["verdict"]["evidence"]}
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

    def test_a_model_that_is_called_evaluates(self):
        text = LOADER.replace("batch.numpy().sum()", "model(batch)")
        model = "model = torch.nn.Linear(4, 4).to('cpu')\n"
        text = text.replace("waited, batch", model + "waited, batch", 1)
        with_model = self.run_script(text, self.python)
        self.assertEqual(with_model["verdict"]["code"], "no-steps")
        self.assertFalse(with_model["steps"]["count"])


JAX = """
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(w, x):
    return jax.tree.map(lambda w, d: w - 0.01 * d, w, jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w))
w = jnp.ones((64, 8))
for i in range(40):
    w = step(w, np.ones((32, 64), "float32"))
jax.block_until_ready(w)
"""
DATA = """
import numpy as np
rng = np.random.default_rng(0)
x = rng.standard_normal((2000, 10))
y = (x[:, 0] > 0).astype(int)
"""
XGBOOST = """
import xgboost
xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(x, label=y), 25)
xgboost.XGBClassifier(n_estimators=12).fit(x, y)
"""
LIGHTGBM = """
import lightgbm
lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(x, label=y), 25)
lightgbm.LGBMClassifier(n_estimators=12, verbose=-1).fit(x, y)
"""
CATBOOST = """
import catboost
catboost.CatBoostClassifier(iterations=12, verbose=0, allow_writing_files=False).fit(x, y)
"""
SKLEARN = """
from sklearn.ensemble import RandomForestClassifier
RandomForestClassifier(20, n_jobs=2).fit(x, y)
"""
TENSORFLOW = """
import tensorflow as tf
w = tf.Variable(tf.ones((10, 1), tf.float64))
for i in range(30):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
"""


@unittest.skipUnless(NIGHTLY, "--nightly runs the frameworks themselves")
class Themselves(Case):
    def setUp(self):
        super().setUp()
        self.python = training.frameworks()

    def test_jax(self):
        self.assert_abstains(self.run_script(JAX, self.python), "JAX 0.")

    def test_a_torch_loader_in_front_of_jax(self):
        text = LOADER.replace("batch.numpy().sum()", "float(jax.numpy.sum(batch.numpy()))")
        summary = self.run_script("import jax\n" + text, self.python)
        self.assert_abstains(summary, "JAX 0.")
        self.assertEqual((summary["steps"]["count"], summary["steps"]["end_with"]), (45, "batch"))

    def test_boosting(self):
        for name, text in (("xgboost", XGBOOST), ("lightgbm", LIGHTGBM)):
            with self.subTest(name):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                summary = self.run_script(DATA + text, self.python)
                self.assertEqual(summary["steps"]["count"], 25 + 12)

    def test_fits_without_calls_of_a_step(self):
        for title, text in (("CatBoost 1.", CATBOOST), ("scikit-learn 1.", SKLEARN)):
            with self.subTest(title):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.assert_abstains(self.run_script(DATA + text, self.python), title)

    def test_tensorflow(self):
        summary = self.run_script(DATA + TENSORFLOW, self.python)
        self.assert_abstains(summary, "TensorFlow 2.", "Keras 3.")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
