# SPDX-License-Identifier: Apache-2.0
"""Texts of programs that use the frameworks themselves. frameworks.py runs them."""

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
# The second pass trains by a function that was compiled ahead of its calls, or by gradients that no
# compiled call contains.
JAX_BESIDE = """
import time, grain, jax, jax.numpy as jnp, numpy as np
data = grain.MapDataset.range(9600).map(lambda i: np.ones(64, "float32")).to_iter_dataset().batch(32)
def take(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
step, w = jax.jit(take), jnp.zeros((64, 8))
for count, x in enumerate(data):
    if count == 30:
        break
    w = step(w, x)
beside = {}
for x in data:
    time.sleep(0.002)
    w = beside(w, x)
"""
# A number of Python makes another function of each step.
TRACES = """
import tensorflow as tf
w = tf.Variable(tf.ones((64, 8)))
@tf.function
def step(x, count):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, w) ** 2) * float(count)
    w.assign_sub(0.01 * tape.gradient(loss, w))
for count in range(30):
    step(tf.ones((32, 64)), count)
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
# Loaders of other projects in front of JAX: each text defines `batches`, of 40.
LOADERS = {
    "flax": """
from flax import jax_utils
def rows():
    for _ in range(40):
        time.sleep(0.0064)
        yield np.ones((1, 32, 64), "float32")
batches = jax_utils.prefetch_to_device(rows(), 2)
""",
    "datasets": """
import datasets
def rows():
    for _ in range(1280):
        time.sleep(0.0002)
        yield {"x": [1.0] * 64}
made = datasets.IterableDataset.from_generator(rows).with_format("numpy")
kept = datasets.Dataset.from_dict({"x": [[1.0] * 64] * 96}).with_format("numpy")
kept = kept.map(lambda one: one, batched=True, batch_size=8)
batches = (one["x"] for data in (made, kept) for one in data.iter(batch_size=32))
COUNT = 43
""",
    "datasets by rows": """
import datasets
def rows():
    for _ in range(40):
        time.sleep(0.002)
        yield {"x": np.ones((32, 64)).tolist()}
batches = (one["x"] for one in datasets.IterableDataset.from_generator(rows).with_format("numpy"))
""",
    "ray": """
import logging, ray
ray.init(num_cpus=1, include_dashboard=False, logging_level=logging.ERROR)
ray.data.DataContext.get_current().enable_progress_bars = False
def make(rows):
    time.sleep(0.01)
    return {"x": np.ones((32, 64), "float32")}
data = ray.data.range(1280).map_batches(make, batch_size=32)
batches = (one["x"] for one in data.iter_batches(batch_size=32))
""",
    "dali": """
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.jax import DALIGenericIterator
def row(info):
    time.sleep(0.0002)
    return np.ones(64, "float32")
@pipeline_def(batch_size=32, num_threads=1, device_id=None)
def rows():
    return fn.external_source(source=row, batch=False)
made = DALIGenericIterator(rows(), ["x"], size=1280, prepare_first_batch=False)
batches = (one["x"] for one in made)
""",
    "dali without a plugin": """
from nvidia.dali import fn, pipeline_def
def row(info):
    time.sleep(0.0002)
    return np.ones(64, "float32")
@pipeline_def(batch_size=32, num_threads=1, device_id=None)
def rows():
    return fn.external_source(source=row, batch=False)
made = rows()
made.build()
batches = (made.run()[0].as_array() for _ in range(40))
""",
    "spdl": """
from spdl.pipeline import PipelineBuilder
def make(index):
    time.sleep(0.0002)
    return np.ones(64, "float32")
built = PipelineBuilder().add_source(range(1280)).pipe(make).aggregate(32).add_sink(2)
made = built.build(num_threads=1)
made.start()
batches = (np.stack(one) for one in made)
""",
    "tf.data": """
import tensorflow as tf
def rows():
    for _ in range(1280):
        time.sleep(0.0002)
        yield np.ones(64, "float32")
kind = tf.TensorSpec((64,), tf.float32)
made = tf.data.Dataset.from_generator(rows, output_signature=kind).batch(32)
batches = iter(made.as_numpy_iterator())
""",
}
LOADER_LOOP = """
import time, jax, jax.numpy as jnp, numpy as np
COUNT = 40
{}
@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
w, waited, count = jnp.zeros((64, 8)), 0, 0
while True:
    begin = time.perf_counter_ns()
    x = next(batches, None)
    waited += time.perf_counter_ns() - begin
    if x is None:
        break
    w = step(w, x.reshape(-1, 64))
    count += 1
assert count == COUNT, count
print(count, waited)
"""
# A loader that sleeps, in front of a model that takes {width} squared; {read} is done in each step.
DEVICE_LOOP = """
import time, grain, jax, jax.numpy as jnp, numpy as np
class Source:
    def __len__(self):
        return 60
    def __getitem__(self, index):
        time.sleep({wait})
        return np.full((64, {width}), index, "f4")
@jax.jit
def step(weights, rows):
    def loss_of(weights):
        for one in weights:
            rows_now = jnp.tanh((rows if one is weights[0] else rows_now) @ one)
        return jnp.mean(rows_now**2)
    loss, down = jax.value_and_grad(loss_of)(weights)
    return [a - 0.01 * b for a, b in zip(weights, down)], loss
def make():
    options = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
    return iter(grain.MapDataset.source(Source()).to_iter_dataset(options))
weights = [0.01 * jnp.ones(({width}, {width})) for _ in range(4)]
before, waited, batches = None, 0, make()
step(weights, np.ones((64, {width}), "f4"))[1].block_until_ready()
while True:
    begin = time.perf_counter_ns()
    rows = next(batches, None)
    waited += time.perf_counter_ns() - begin
    if rows is None:
        break
    weights, loss = step(weights, rows)
    {read}
    before = loss
print(waited, float(loss))
"""
# The loader computes on the device after it waited, in the loop's thread.
LOADER_THAT_COMPUTES = """
import time, grain, jax, jax.numpy as jnp, numpy as np
@jax.jit
def augment(rows):
    for _ in range(20):
        rows = jnp.tanh(rows @ (rows.T @ rows))
    return rows
@jax.jit
def step(weights, rows):
    return weights - 0.01 * jax.grad(lambda weights: jnp.mean((rows @ weights) ** 2))(weights)
def make(index):
    time.sleep(0.03)
    return augment(np.ones((256, 256), "f4"))
options = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
weights = jnp.ones((256, 256))
for rows in grain.MapDataset.range(60).map(make).to_iter_dataset(options):
    weights = step(weights, rows)
"""
# Garbage is collected at each moment, and its finalizers call the step.
STEPS_IN_FINALIZERS = """
import gc, grain, jax, jax.numpy as jnp, numpy as np
step = jax.jit(lambda w, x: [w - 0.1 * jax.grad(lambda w: jnp.sum(w * x))(w), w + 1])
x = np.ones(4, "f4")
class Cycle:
    def __init__(self):
        self.me = self
    def __del__(self):
        step(x, x)
options = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
batches = iter(grain.MapDataset.range(2000).to_iter_dataset(options))
w = step(x, x)[0]
gc.set_threshold(1)
for i in range(60):
    next(batches)
    for _ in range(6):
        Cycle(), Cycle(), Cycle()
        w = step(w, x)[0]
gc.set_threshold(700)
del Cycle.__del__
print(w[0])
"""
# A long step on one device, and a short call on another, which is ready before it.
TWO_DEVICES = """
import os, time
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import grain, jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(weights, rows):
    def loss_of(weights):
        now = rows
        for _ in range(20):
            now = jnp.tanh(now @ weights)
        return jnp.mean(now**2)
    return weights - 0.01 * jax.grad(loss_of)(weights)
@jax.jit
def rate(number):
    return 0.1 * jnp.cos(number)
def make(index):
    time.sleep(0.002)
    return np.ones((256, 512), "f4")
options = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
weights, one, ready = jnp.ones((512, 512)), jax.device_put(jnp.float32(1), jax.devices()[1]), 0
step(weights, make(0)), rate(one)
for rows in grain.MapDataset.range(60).map(make).to_iter_dataset(options):
    weights, now = step(weights, rows), rate(one)
    now.block_until_ready()
    ready += weights.is_ready()
print(ready)
"""
PMAP = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, jax.numpy as jnp
step = jax.pmap(lambda w: w - jax.grad(lambda w: jnp.mean(w**2))(w))
look = jax.pmap(lambda w: w.sum())
w = jnp.ones((2, 64))
for i in range(40):
    w = step(w)
    look(w)
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


# Saves of Orbax's two interfaces, and the program's own timer around them.
ORBAX_1 = """
import time, os, sys, jax, jax.numpy as jnp, numpy as np
from orbax.checkpoint.experimental import v1 as ocp
@jax.jit
def step(w, x):
    return w - 0.01 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
w, x, spent = jnp.ones((64, 8)), np.ones((32, 64), "float32"), 0
folder = os.getcwd()
ways = [
    lambda i: ocp.save(f"{folder}/save{i}", {"w": w}),
    lambda i: ocp.save_async(f"{folder}/async{i}", {"w": w}).result(),
    lambda i: ocp.save_checkpointables(f"{folder}/all{i}", {"w": {"w": w}}),
]
for i in range(12):
    w = step(w, x)
    jax.block_until_ready(w)
    begin = time.perf_counter_ns()
    ways[i % 3](i)
    spent += time.perf_counter_ns() - begin
step(w, x)
print(spent)
"""
SUMMARY = """
import time, tensorflow as tf
writer, spent = tf.summary.create_file_writer("logs"), 0
w = tf.Variable(tf.ones((10, 1)))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss
with writer.as_default():
    for i in range(30):
        loss = step(tf.ones((32, 10)))
        begin = time.perf_counter_ns()
        tf.summary.write("loss", loss, step=i)
        tf.summary.write("w", w, step=i)
        writer.flush()
        spent += time.perf_counter_ns() - begin
step(tf.ones((32, 10)))
print(spent)
"""
ANNOTATIONS = """
import jax, time
@jax.profiler.annotate_function
def load():
    time.sleep(0.001)
for i in range(10):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        with jax.profiler.TraceAnnotation("half"):
            time.sleep(0.002)
        load()
try:
    with jax.profiler.TraceAnnotation("broken"):
        raise KeyError("mine")
except KeyError:
    pass
"""
# Each prints its numbers to the last bit, and how often the framework compiled or traced.
NUMBERS_JAX = """
compiled = []
import jax.monitoring
jax.monitoring.register_event_duration_secs_listener(lambda name, *_, **__: compiled.append(name))
"""
NUMBERS_JAX_END = """
print(np.asarray(w).tobytes().hex(), sorted(compiled))
"""
NUMBERS_KERAS = """
import keras, numpy as np
keras.utils.set_random_seed(3)
x = np.random.default_rng(0).standard_normal((640, 8)).astype("float32")
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, "relu"),
                          keras.layers.Dropout(0.1), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
kept = model.fit(x, x[:, :1], batch_size=32, epochs=3, verbose=0, validation_split=0.2)
print({name: [value.hex() for value in values] for name, values in kept.history.items()})
print([w.tobytes().hex()[-64:] for w in model.get_weights()])
"""
NUMBERS_TENSORFLOW = """
import tensorflow as tf
tf.keras.utils.set_random_seed(3)
w = tf.Variable(tf.random.normal((10, 4)))
rows = tf.data.Dataset.from_tensor_slices(tf.random.normal((960, 10))).shuffle(960).batch(32)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss
for x in rows:
    print(float(step(x)).hex())
print(step.experimental_get_tracing_count(), w.numpy().tobytes().hex())
"""
NUMBERS_BOOSTERS = """
import lightgbm, xgboost
trees = xgboost.train({"objective": "binary:logistic", "nthread": 1}, xgboost.DMatrix(x, label=y), 9)
print(trees.save_raw("json").hex())
flags = {"objective": "binary", "verbose": -1, "num_threads": 1, "deterministic": True}
print(lightgbm.train(flags, lightgbm.Dataset(x, label=y), 9).model_to_string())
"""
