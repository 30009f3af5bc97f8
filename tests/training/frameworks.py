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

loader = DataLoader(Rows(), batch_size=2)
begin = time.perf_counter_ns()
batches = iter(loader)
waited = time.perf_counter_ns() - begin
for _ in range(45):
    begin = time.perf_counter_ns()
    batch = next(batches)
    waited += time.perf_counter_ns() - begin
    batch.numpy().sum()
    time.sleep(0.001)
begin = time.perf_counter_ns()
next(batches, None)
print(waited + time.perf_counter_ns() - begin)
"""
BOOSTER = """
class Booster:
    def update(self, rounds=1):
        return sum(range(1000))
"""
DATA_ITERATOR = """
class DataIter:
    def __init__(self, cache_prefix=None, release_data=True):
        self.cache_prefix = cache_prefix
"""
EXTERNAL_MEMORY = """
from xgboost.core import DataIter
class Pages(DataIter):
    def __init__(self):
        super().__init__({})
assert Pages().cache_prefix == {}
"""
BOOST = """
from {0} import Booster
booster = Booster()
for _ in range(25):
    booster.update()
"""
CALLBACKS = """
class CallbackList:
    def on_train_begin(self, logs=None): pass
    def on_train_batch_begin(self, batch, logs=None): pass
    def on_train_batch_end(self, batch, logs=None): pass
    def on_epoch_end(self, epoch, logs=None): pass
"""
# The end of the data comes after a begin: that is no step.
FIT = """
import keras.src.callbacks.callback_list, time
callbacks = keras.src.callbacks.callback_list.CallbackList()
callbacks.on_train_begin()
spent = 0
for epoch in range(2):
    for batch in range(12):
        callbacks.on_train_batch_begin(batch)
        begin = time.perf_counter_ns()
        time.sleep(0.002)
        spent += time.perf_counter_ns() - begin
        callbacks.on_train_batch_end(batch)
        time.sleep(0.001)
    callbacks.on_train_batch_begin(12)
    callbacks.on_epoch_end(epoch)
print(spent)
"""
GRAPHS = """
class Function:
    def __init__(self, python_function, name):
        self.python_function, self.is_traced = python_function, False
    def __call__(self, *args):
        if not self.is_traced:
            self.python_function(*args)
        self.is_traced = True
        return 1
"""
TAPE = """
class GradientTape:
    def gradient(self, target):
        return target
"""
# An inner function that takes gradients makes its caller train; the other function is no step.
GRAPH_LOOP = """
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
inner = Function(lambda: GradientTape().gradient(1), "inner")
train = Function(lambda: inner(), "train_step")
evaluate = Function(lambda: 1, "test_step")
for _ in range(30):
    train()
for _ in range(7):
    evaluate()
"""
EAGER_LOOP = """
from tensorflow.python.eager.backprop import GradientTape
for _ in range(30):
    GradientTape().gradient(1)
"""
# An iterator of a loader that asks another one: a batch has one wait.
NESTED = """
import time
class DatasetIterator:
    pass
class Source(DatasetIterator):
    left = 40
    def __next__(self):
        time.sleep(0.002)
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left
class Batched(DatasetIterator):
    def __init__(self):
        self.source = Source()
    def __next__(self):
        return next(self.source)
"""
NESTED_LOOP = """
import grain, time
from grain._src.python.dataset.dataset import Batched
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
train = Function(lambda: GradientTape().gradient(1), "train_step")
batches, waited = Batched(), 0
while True:
    begin = time.perf_counter_ns()
    batch = next(batches, None)
    waited += time.perf_counter_ns() - begin
    if batch is None:
        break
    train()
    time.sleep(0.001)
print(waited)
"""
# Keras on JAX asks for the batch inside of a step.
INNER_WAIT = """
import keras.src.backend.jax.trainer as trainer
import keras.src.callbacks.callback_list, time
callbacks = keras.src.callbacks.callback_list.CallbackList()
callbacks.on_train_begin()
waited, batches = 0, iter(trainer.JAXEpochIterator()._get_iterator())
for batch in range(24):
    callbacks.on_train_batch_begin(batch)
    begin = time.perf_counter_ns()
    next(batches)
    waited += time.perf_counter_ns() - begin
    time.sleep(0.001)
    callbacks.on_train_batch_end(batch)
print(waited)
"""
EPOCHS = """
import time
class JAXEpochIterator:
    def _get_iterator(self):
        for batch in range(24):
            time.sleep(0.002)
            yield batch
"""
SAVER = """
import time
def save(*_args):
    time.sleep(0.003)
class AsyncCheckpointer:
    def save(self, *_args):
        time.sleep(0.003)
    def wait_until_finished(self):
        time.sleep(0.002)
save_model = save_checkpoint = save
TrackableSaver = AsyncCheckpointer
"""
SAVERS = (
    "orbax/checkpoint/_src/checkpointers/async_checkpointer",
    "flax/training/checkpoints",
    "keras/src/saving/saving_api",
    "tensorflow/python/checkpoint/checkpoint",
)
SAVE_LOOP = """
import time
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
from orbax.checkpoint._src.checkpointers import async_checkpointer
from flax.training import checkpoints
from keras.src.saving import saving_api
from tensorflow.python.checkpoint import checkpoint
train = Function(lambda: GradientTape().gradient(1), "train_step")
orbax, saver = async_checkpointer.AsyncCheckpointer(), checkpoint.TrackableSaver()
saves = [orbax.save, orbax.wait_until_finished, checkpoints.save_checkpoint]
saves += [saving_api.save_model, saver.save]
spent = 0
for i in range(30):
    train()
    time.sleep(0.001)
    begin = time.perf_counter_ns()
    saves[i % 5]()
    spent += time.perf_counter_ns() - begin
train()
print(spent)
"""
# JAX of 2024 has another name for what reads an array on the host.
ARRAY_OF_2024 = """
import time
class ArrayImpl:
    def _single_device_array_to_np_array(self):
        time.sleep(0.002)
"""
ARRAY_LOOP = """
import time
from jax._src.array import ArrayImpl
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
train, loss, waited = Function(lambda: GradientTape().gradient(1), "train_step"), ArrayImpl(), 0
for i in range(30):
    train()
    begin = time.perf_counter_ns()
    loss._single_device_array_to_np_array()
    waited += time.perf_counter_ns() - begin
train()
print(waited)
"""
PJIT = """
import jaxlib.xla_extension as _jax
class PjitFunction:
    def __init__(self, function):
        self.function = function
    def __call__(self, x):
        return self.function(x)
def jit(function):
    return _jax.pjit(function.__name__, function)
"""
JIT_LOOP = """
from jax._src.pjit import PjitFunction, jit
import jaxlib.xla_extension
function = jit(lambda x: x + 1)
assert type(function) is PjitFunction
assert [function(x) for x in range(20)] == list(range(1, 21))
"""
# The names that libtorch_cpu exports, and a program that calls them as a trainer does.
LIBTORCH_NAMES = {
    "zero_grad": "_ZN5torch5optim9Optimizer9zero_gradEb",
    "backward": "_ZNK2at6Tensor9_backwardEN3c108ArrayRefIS0_EERKSt8optionalIS0_ES4_IbEb",
    "step": "_ZN5torch5optim4Adam4stepESt8functionIFN2at6TensorEvEE",
}
LIBTORCH_BODY = "char *{0}(char *a, char *b, char *c, char *d, char *e, char *f)"
LIBTORCH_MAIN = """
#include <errno.h>
int main(void)
{
	for (int i = 0; i < 30; i++) {
		char *a = (char *)0 + i;
		errno = 7;
		zero_grad(a, a, a, a, a, a);
		if (backward(a, a + 1, a + 2, a + 3, a + 4, a + 5) != a + 15 || errno != 7)
			return 1;
		if (i % 3 == 2 && step(a, a, a, a, a, a + 1) != a + 1)
			return 2;
	}
	return 0;
}
"""
PLUGIN_MAIN = """
#include <dlfcn.h>
int main(void)
{
	void *plugin = dlopen("./digits.so", RTLD_NOW | RTLD_LOCAL);
	int (*train)(void) = plugin ? (int (*)(void))dlsym(plugin, "train_digits") : 0;

	return train ? train() : 1;
}
"""
# Open MPI's own objects, which its header calls MPI_COMM_WORLD and so on.
MPI = """
#include <fcntl.h>
#include <unistd.h>

extern char ompi_mpi_comm_world[], ompi_mpi_double[], ompi_mpi_op_sum[];
int MPI_Init(int *argc, char ***argv);
int MPI_Allreduce(const void *from, void *to, int count, void *type, void *op, void *comm);
int MPI_Finalize(void);

static char block[65536];

int main(int argc, char **argv)
{
	double sum = 0, one = 1;
	int file = open("data", O_RDONLY);

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 50; i++) {
		if (pread(file, block, sizeof(block), 0) != (ssize_t)sizeof(block))
			return 1;
		MPI_Allreduce(&one, &sum, 1, ompi_mpi_double, ompi_mpi_op_sum, ompi_mpi_comm_world);
	}
	MPI_Finalize();
	return sum != 2;
}
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
        for module, title, state in (
            ("jax", "JAX 1.2.3", "bound"),
            ("tensorflow", "TensorFlow 1.2.3", "bound"),
            ("sklearn", "scikit-learn 1.2.3", "loaded"),
        ):
            with self.subTest(module):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.module(f"{module}/__init__.py")
                summary = self.run_script(f"import {module}\n" + READ)
                self.assert_abstains(summary, f"steps of {title} are not", "STAGEPROF_FUNCTIONS")
                self.assert_named(summary, f"framework {state} {module} 1.2.3")
                known = {row["measure"] for row in summary["verdict"]["evidence"]}
                self.assertIn("read_rate", known)

    def test_a_version_of_any_kind_harms_nobody(self):
        self.module("jax/__init__.py", "__version__ = None\n")
        self.module("keras/__init__.py", "def __getattr__(name):\n    raise RuntimeError(name)\n")
        summary = self.run_script("import jax, keras\n" + READ)
        self.assert_abstains(summary, "steps of JAX")
        self.assert_named(summary, "framework bound jax")

    def test_each_round_of_boosting_is_a_step(self):
        for package, module in (("xgboost", "core"), ("lightgbm", "basic")):
            with self.subTest(package):
                subprocess.run(["rm", "-rf", self.path("run.zst")], check=True)
                self.module(f"{package}/__init__.py")
                self.module(f"{package}/{module}.py", BOOSTER)
                summary = self.run_script(BOOST.format(f"{package}.{module}"))
                self.assertEqual(summary["steps"]["count"], 25)
                self.assert_named(summary, f"framework bound {package} 1.2.3")

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
        self.assert_abstains(summary, "a step is one call")
        self.assertEqual(summary["steps"]["count"], count)
        known = {row["measure"] for row in summary["verdict"]["evidence"]}
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
        known = {row["measure"] for row in summary["verdict"]["evidence"]}
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

    def tensorflow_double(self):
        place = "tensorflow"
        self.module(place + "/__init__.py")
        for folder in ("python", "eager", "polymorphic_function"):
            place += "/" + folder
            self.module(place + "/__init__.py")
        self.module(place + "/polymorphic_function.py", GRAPHS)
        self.module("tensorflow/python/eager/backprop.py", TAPE)

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
        self.assert_whole_steps(summary, 31)
        self.assert_own_timer(summary, "checkpoint")

    def assert_own_timer(self, summary, part):
        took, own = [r["ns"] for r in summary["account"] if r["part"] == part][0], int(self.said)
        self.assertAlmostEqual(took, own, delta=0.05 * own + 30 * 5000 + 2000000)

    def test_waits_for_arrays_of_jax_of_2024(self):
        self.tensorflow_double()
        for folder in ("jax", "jax/_src"):
            self.module(folder + "/__init__.py")
        self.module("jax/_src/array.py", ARRAY_OF_2024)
        summary = self.run_script(ARRAY_LOOP)
        self.assert_whole_steps(summary, 31)
        self.assert_own_timer(summary, "sync_wait")

    def test_a_compiled_function_of_an_unknown_layout_is_left_alone(self):
        for folder in ("jax", "jax/_src", "jaxlib"):
            self.module(folder + "/__init__.py")
        self.module("jax/_src/pjit.py", PJIT)
        library = "def pjit(name, function):\n    from jax._src.pjit import PjitFunction\n"
        self.module("jaxlib/xla_extension.py", library + "    return PjitFunction(function)\n")
        self.assert_abstains(self.run_script(JIT_LOOP + READ), "steps of JAX")

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
        text = text.replace("begin =", model + "begin =", 1)
        with_model = self.run_script(text, self.python)
        self.assertEqual(with_model["verdict"]["code"], "no-steps")
        self.assertFalse(with_model["steps"]["count"])


JAX = """
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def look(w, x):
    return w + jnp.mean(x)
@jax.jit
def step(w, x):
    return jax.tree.map(lambda w, d: w - 0.01 * d, w, jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w))
w = jnp.ones((64, 8))
for i in range(40):
    w = step(w, np.ones((32, 64), "float32"))
jax.block_until_ready(w)
"""
# As Flax's example: one function gives gradients, another applies them, and the first evaluates.
JAX_PAIR = """
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def apply_model(w, x):
    loss, gradients = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return gradients, loss
@jax.jit
def update_model(w, gradients):
    return w - 0.01 * gradients
w, x = jnp.ones((64, 8)), np.ones((32, 64), "float32")
for epoch in range(3):
    for i in range(13):
        gradients, loss = apply_model(w, x)
        w = update_model(w, gradients)
    print(float(apply_model(w, x)[1]))
"""
# Each way to wait for an array, and the program's own timer around it.
JAX_WAITS = """
import time, jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(w, x):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w @ w.T @ w) ** 2))(w)
    return w - 1e-9 * gradient, loss
ways = (
    float, np.asarray, jax.device_get, jax.block_until_ready,
    lambda loss: loss.item(), lambda loss: loss.block_until_ready(),
)
w, x = jnp.ones((784, 200)), np.ones((256, 784), "float32")
waited = 0
for i in range(60):
    w, loss = step(w, x)
    begin = time.perf_counter_ns()
    ways[i % 6](loss)
    waited += time.perf_counter_ns() - begin
print(waited)
"""
GRAIN = """
import time, grain, jax, jax.numpy as jnp, numpy as np
def make(index):
    time.sleep(0.0002)
    return np.ones(64, "float32")
data = grain.MapDataset.range(1280).map(make).to_iter_dataset().batch(32)
@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
w, waited, batches = jnp.zeros((64, 8)), 0, iter(data)
while True:
    begin = time.perf_counter_ns()
    x = next(batches, None)
    waited += time.perf_counter_ns() - begin
    if x is None:
        break
    w = step(w, x)
print(waited)
"""
# The least nanoseconds of a call, of 60 rounds.
PRICES = """
import time, jax, jax.numpy as jnp, numpy as np
w = jnp.ones(4)
look = jax.jit(lambda w, x: w)
step = jax.jit(lambda w, x: w - jax.grad(lambda w: (w * x).sum())(w))
calls = [lambda: look(w, w), lambda: step(w, w), lambda: np.asarray(w), w.block_until_ready]
def least(call):
    rounds = []
    for _ in range(60):
        begin = time.perf_counter_ns()
        for _ in range(400):
            call()
        rounds.append((time.perf_counter_ns() - begin) / 400)
    return min(rounds)
for call in calls:
    jax.block_until_ready(call())
print(*[least(call) for call in calls])
"""
CACHE = """
import jax
jax.config.update("jax_compilation_cache_dir", {!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
"""
KERAS = """
import keras, numpy as np
x = np.ones((640, 8), "float32")
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, x[:, :1], batch_size=32, epochs=3, verbose=0, validation_data=(x, x[:, :1]))
for i in range(10):
    model.train_on_batch(x[:32], x[:32, :1])
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
# Each fit opens the file, in two processes of joblib.
SKLEARN_PROCESSES = """
import joblib, numpy as np
from sklearn.linear_model import SGDClassifier
rng = np.random.default_rng(0)
np.save({0!r}, rng.standard_normal((2000, 10)))
def fit(seed):
    x = np.load({0!r})
    return SGDClassifier(random_state=seed).fit(x, x[:, 0] > 0).score(x, x[:, 0] > 0)
print(joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(seed) for seed in range(6)))
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

    def assert_one_call(self, summary, count):
        self.assert_abstains(summary, "a step is one call")
        self.assertEqual(summary["steps"]["count"], count)

    def test_jax(self):
        self.assert_one_call(self.run_script(JAX, self.python), 40)

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
        self.assert_one_call(summary, 40)
        self.assert_part(summary, "loader_wait")

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
                self.assert_one_call(summary, 3 * 20 + 10)

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

    def digits_made(self, output, *flags):
        """libtorch's own headers and libraries are parts of PyTorch's package."""
        ask = "import os, torch; print(os.path.dirname(torch.__file__))"
        command = [training.interpreter(), "-c", ask]
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
        self.assertEqual(summary["verdict"]["code"], "no-training")
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
