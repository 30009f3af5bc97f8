# SPDX-License-Identifier: Apache-2.0
"""Texts of doubles: modules and libraries with the names that the library binds, and loops that
use them. frameworks.py writes and runs them."""

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
# A runtime with devices, an iterator that takes a while, and a strategy whose replica traces in a
# thread of its own.
DEVICES = """
class Device:
    def __init__(self, kind):
        self.device_type = kind
class Context:
    _default_is_async = False
    def __init__(self, kinds):
        self.kinds, self._logical_devices = kinds, None
    def _initialize_logical_devices(self):
        self._logical_devices = [Device(kind) for kind in self.kinds]
"""
EXECUTOR = """
def new_executor(enable_async=False):
    return enable_async
"""
OWNED_ITERATOR = """
import time
class OwnedIterator:
    left = 40
    def __iter__(self):
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        time.sleep(0.003)
        return self.left
"""
MIRRORED = """
import threading
class _MirroredReplicaThread(threading.Thread):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def run(self):
        self.function()
"""
DEVICE_LOOP = """
from tensorflow.python.eager.context import Context
from tensorflow.python.eager.executor import new_executor
Context({})._initialize_logical_devices()
{}
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.distribute.mirrored_run import _MirroredReplicaThread
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
def replicas():
    replica = _MirroredReplicaThread(lambda: GradientTape().gradient(1))
    replica.start()
    replica.join()
train = Function(replicas, "train_step")
for batch in OwnedIterator():
    train()
"""
# Data that a loop iterates in epochs. An iterator takes a while to begin, and to be dropped.
ITERATED_DATA = OWNED_ITERATOR + """
    def __del__(self):
        time.sleep(0.02)
class DatasetV2:
    def __iter__(self):
        time.sleep(0.01)
        return OwnedIterator()
"""
EPOCHS_OF_DATA = """
import time
from tensorflow.python.data.ops.dataset_ops import DatasetV2
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
train = Function(lambda: GradientTape().gradient(1), "train_step")
data, own_ns = DatasetV2(), 0
OwnedIterator.left = 8
for epoch in range(6):
    began = time.perf_counter_ns()
    batches = iter(data)
    own_ns += time.perf_counter_ns() - began
    while True:
        began = time.perf_counter_ns()
        batch = next(batches, None)
        own_ns += time.perf_counter_ns() - began
        if batch is None:
            break
        train()
print(own_ns)
"""
# Text that a model makes, word by word, and a loop that learns from it.
GENERATE = """
import torch
class GenerationMixin:
    def generate(self, words):
        with torch.no_grad():
            for _ in range(6):
                words = words + self(words)
        return words
"""
TEXT_LOOP = """
import time, torch
from transformers.generation.utils import GenerationMixin
class Model(torch.nn.Linear, GenerationMixin):
    def forward(self, words):
        time.sleep(0.001)
        return super().forward(words)
model, own_ns = Model(8, 8), 0
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for words in torch.utils.data.DataLoader(torch.ones(60, 8), batch_size=2):
    began = time.perf_counter_ns()
    words = model.generate(words)
    own_ns += time.perf_counter_ns() - began
    for _ in range(4):
        loss = model(words).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(own_ns)
"""
# PyTorch's step, gradients of TensorFlow, and two rounds of boosting.
THREE_LOOPS = """
import time, torch
from lightgbm.basic import Booster as Light
from xgboost.core import Booster
from tensorflow.python.eager.backprop import GradientTape
model, boosters = torch.nn.Linear(512, 512), (Booster(), Light())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(30):
    optimizer.zero_grad()
    model(torch.ones(256, 512)).sum().backward()
    optimizer.step()
    {}
    for booster in boosters:
        booster.update()
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
# A data set that is iterated, by a generator; map() iterates it, too.
ITERATED = """
import time
class Dataset:
    def __iter__(self):
        for batch in self.iter(1):
            yield batch
    def iter(self, batch_size):
        for batch in range(30):
            time.sleep(0.002)
            yield batch
    def map(self):
        return list(self.iter(1))
"""
ITERATED_LOOP = """
import time
from datasets.arrow_dataset import Dataset
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
train = Function(lambda: GradientTape().gradient(1), "train_step")
data, waited = Dataset(), 0
assert len(data.map()) == 30
for batches in (iter(data), data.iter(1)):
    while True:
        begin = time.perf_counter_ns()
        batch = next(batches, None)
        waited += time.perf_counter_ns() - begin
        if batch is None:
            break
        train()
        time.sleep(0.001)
generator = data.iter(1)
assert next(generator) == 0 and generator.send(None) == 1
generator.close()
assert next(generator, None) is None
print(waited)
"""
# In a DataLoader of PyTorch it is what the loader fetches from.
FETCHED_LOOP = """
import torch
from datasets.arrow_dataset import Dataset
class Rows(Dataset, torch.utils.data.IterableDataset):
    pass
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for batch in torch.utils.data.DataLoader(Rows(), batch_size=2):
    optimizer.zero_grad()
    model(batch.float().reshape(-1, 1)).sum().backward()
    optimizer.step()
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
    "orbax/checkpoint/experimental/v1/_src/saving/saving",
    "flax/training/checkpoints",
    "keras/src/saving/saving_api",
    "tensorflow/python/checkpoint/checkpoint",
    "tensorflow/python/saved_model/save",
)
SAVE_LOOP = """
import time
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.eager.backprop import GradientTape
from orbax.checkpoint._src.checkpointers import async_checkpointer
from orbax.checkpoint.experimental.v1._src.saving import saving
from flax.training import checkpoints
from keras.src.saving import saving_api
from tensorflow.python.checkpoint import checkpoint
from tensorflow.python.saved_model import save as saved_model
train = Function(lambda: GradientTape().gradient(1), "train_step")
orbax, saver = async_checkpointer.AsyncCheckpointer(), checkpoint.TrackableSaver()
saves = [orbax.save, orbax.wait_until_finished, checkpoints.save_checkpoint]
saves += [saving_api.save_model, saver.save, saving.save, saved_model.save]
spent = 0
for i in range(30):
    train()
    time.sleep(0.001)
    begin = time.perf_counter_ns()
    saves[i % 6]()
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
ANNOTATION = """
class TraceAnnotation:
    def __init__(self, name, **names): pass
    def __enter__(self): return self
    def __exit__(self, *_raised): pass
"""
ANNOTATION_LOOP = """
from jax._src.profiler import TraceAnnotation
kept = TraceAnnotation("twice", step=1)
for i in range(5):
    with TraceAnnotation("outer"), TraceAnnotation("inner", step=i) as inner:
        assert type(inner) is TraceAnnotation
for i in range(2):
    with kept:
        pass
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
# A program that trains by the C API of a library, and how it comes to the library: linked, by
# dlopen, or by ctypes. A failing round is none.
ROUNDS_DOUBLE = """
#include <stdint.h>
int XGBoosterTrainOneIter(void *b, void *d, int n, const char *g, const char *h)
{
	return b && d && n >= 0 && g && h ? 0 : -1;
}
int XGBoosterBoostOneIter(void *b, void *d, float *g, float *h, uint64_t n)
{
	return XGBoosterTrainOneIter(b, d, (int)n, (char *)g, (char *)h);
}
int XGDMatrixCreateFromMat(const float *v, uint64_t r, uint64_t c, float missing, void **made)
{
	*made = (void *)v;
	return missing == 2.5f && r == 7 && c == 3 ? 0 : -1;
}
"""
ROUNDS_MAIN = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#ifdef LOOKED_UP
#define GET(name) name = (__typeof__(name))dlsym(library, #name)
static int (*XGBoosterBoostOneIter)(void *, void *, float *, float *, uint64_t);
static int (*XGDMatrixCreateFromMat)(const float *, uint64_t, uint64_t, float, void **);
#else
int XGBoosterBoostOneIter(void *, void *, float *, float *, uint64_t);
int XGDMatrixCreateFromMat(const float *, uint64_t, uint64_t, float, void **);
#endif
int main(void)
{
	float one = 1;
	void *data;
	char text[8];
	FILE *file = fopen("/proc/self/maps", "r");

	if (!file || !fread(text, 1, sizeof(text), file))
		return 5;
#ifdef LOOKED_UP
	void *library = dlopen("./libxgboost.so", RTLD_NOW | RTLD_LOCAL);
	if (dlsym(RTLD_DEFAULT, "XGBoosterBoostOneIter") || dlsym(library, "XGBoosterNone"))
		return 6;
	GET(XGBoosterBoostOneIter);
	GET(XGDMatrixCreateFromMat);
#endif
	if (XGDMatrixCreateFromMat(&one, 7, 3, 2.5f, &data) || data != &one)
		return 1;
	for (uint64_t i = 0; i < 25; i++)
		if (XGBoosterBoostOneIter(data, data, &one, &one, i))
			return 2;
	return XGBoosterBoostOneIter(data, data, &one, 0, 0) != -1;
}
"""
SESSION_DOUBLE = """
void TF_SessionRun(void *session, const void *options, const void *inputs, void *const *values,
		   int count, const void *outputs, void **made, int made_count,
		   const void *const *targets, int target_count, void *metadata, void *status)
{
	int is_whole = session && !options && inputs && values && outputs && targets && !metadata;

	made[0] = session;
	*(int *)status = is_whole ? count + 10 * made_count + 100 * target_count : -1;
}
"""
SESSION_MAIN = """
#include <dlfcn.h>
#include <stdio.h>
typedef void run_session(void *, const void *, const void *, void *const *, int, const void *,
			 void **, int, const void *const *, int, void *, void *);
#ifndef LOOKED_UP
run_session TF_SessionRun;
#endif
int main(void)
{
	int session, status = 0;
	char text[8];
	void *made = 0, *values[1] = {&session};
	const void *targets[1] = {&session};
	FILE *file = fopen("/proc/self/maps", "r");

	if (!file || !fread(text, 1, sizeof(text), file))
		return 5;
#ifdef LOOKED_UP
	void *library = dlopen("./libtensorflow.so.2", RTLD_NOW | RTLD_LOCAL);
	run_session *TF_SessionRun = (run_session *)dlsym(library, "TF_SessionRun");
	if (dlsym(RTLD_DEFAULT, "TF_SessionRun"))
		return 6;
#endif
	for (int i = 0; i < 7; i++) {
		TF_SessionRun(&session, 0, &session, values, 1, &session, &made, 2, targets, 3, 0,
			      &status);
		if (status != 321 || made != &session)
			return 1;
	}
	return 0;
}
"""
XGBOOST_MAIN = """
#include <stdint.h>
int XGDMatrixCreateFromMat(const float *, uint64_t, uint64_t, float, void **);
int XGDMatrixSetFloatInfo(void *, const char *, const float *, uint64_t);
int XGBoosterCreate(void *const *, uint64_t, void **);
int XGBoosterUpdateOneIter(void *, int, void *);
static float rows[500][4], labels[500];
int main(void)
{
	void *data, *booster;

	for (int i = 0; i < 500; i++)
		rows[i][i % 4] = labels[i] = (float)(i % 7);
	if (XGDMatrixCreateFromMat(rows[0], 500, 4, -1.0f, &data) ||
	    XGDMatrixSetFloatInfo(data, "label", labels, 500) ||
	    XGBoosterCreate(&data, 1, &booster))
		return 1;
	for (int i = 0; i < 25; i++)
		if (XGBoosterUpdateOneIter(booster, i, data))
			return 2;
	return 0;
}
"""
LIGHTGBM_MAIN = """
#include <stdint.h>
int LGBM_DatasetCreateFromMat(const void *, int, int32_t, int32_t, int, const char *, void *,
			      void **);
int LGBM_DatasetSetField(void *, const char *, const void *, int, int);
int LGBM_BoosterCreate(void *, const char *, void **);
int LGBM_BoosterUpdateOneIter(void *, int *);
static float rows[500][4], labels[500];
int main(void)
{
	void *data, *booster;
	int is_finished;

	for (int i = 0; i < 500; i++)
		rows[i][i % 4] = labels[i] = (float)(i % 7);
	if (LGBM_DatasetCreateFromMat(rows[0], 0, 500, 4, 1, "verbose=-1", 0, &data) ||
	    LGBM_DatasetSetField(data, "label", labels, 500, 0) ||
	    LGBM_BoosterCreate(data, "verbose=-1", &booster))
		return 1;
	for (int i = 0; i < 25; i++)
		if (LGBM_BoosterUpdateOneIter(booster, &is_finished))
			return 2;
	return 0;
}
"""
# A plugin of PJRT, by the places of the functions in its table or by the published header (HEADER).
PJRT_PLUGIN = """
#include <stddef.h>
#include <stdint.h>
#include <time.h>
static int calls[6];
static void *work(int which, long ns)
{
	calls[which]++;
	nanosleep(&(struct timespec){0, ns}, 0);
	return 0;
}
static void *await(void *a) { return a ? work(0, 3000000) : calls; }
static void *compile(void *a) { (void)a; return work(1, 20000000); }
static void *to_device(void *a) { (void)a; return work(2, 200000); }
static void *execute(void *a) { (void)a; return work(3, 100000); }
static void *on_device(void *a) { (void)a; return work(4, 100000); }
static void *to_host(void *a) { (void)a; return work(5, 2000000); }
#ifdef HEADER
#include HEADER
static PJRT_Api api = {
	.struct_size = sizeof(api),
	.pjrt_api_version = {sizeof(PJRT_Api_Version), 0, PJRT_API_MAJOR, PJRT_API_MINOR},
	.PJRT_Event_Await = (void *)await,
	.PJRT_Client_Compile = (void *)compile,
	.PJRT_Client_BufferFromHostBuffer = (void *)to_device,
	.PJRT_LoadedExecutable_Execute = (void *)execute,
	.PJRT_Buffer_CopyToDevice = (void *)on_device,
	.PJRT_Buffer_ToHostBuffer = (void *)to_host,
};
#else
static uintptr_t api[WORDS] = {WORDS * 8, 0, 24, 0, MAJOR | (uintptr_t)MINOR << 32};
__attribute__((constructor)) static void fill(void)
{
	void *functions[] = {await, compile, to_device, execute, on_device, to_host};
	int at[] = {13, 25, 27, 60, 74, 75};

	for (int i = 0; i < 6; i++)
		if (at[i] < WORDS)
			api[at[i]] = (uintptr_t)functions[i];
}
#endif
const void *GetPjrtApi(void) { return &api; }
const void *own_table(void) { return &api; }
"""
# Prints 1 if it got the plugin's own table, the plugin's counts, and its own timers.
PJRT_MAIN = """
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
typedef void *call(void *);
typedef call **get(void);
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static long long timed(call *function)
{
	long long begin = now();

	return function(&begin) ? -1 : now() - begin;
}
int main(void)
{
	void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	call **api = ((get *)dlsym(plugin, "GetPjrtApi"))(), **again;
	call **own = ((get *)dlsym(plugin, "own_table"))();
	long long compiled, waited = 0, copied = 0;
	char text[8];
	FILE *file = fopen("/proc/self/maps", "r");

	again = ((get *)dlsym(plugin, "GetPjrtApi"))();
	if (!file || !fread(text, 1, sizeof(text), file) || api != again || api[0] != own[0])
		return 1;
	compiled = timed(api[25]);
	for (int i = 0; i < 30; i++) {
		timed(api[27]);
		timed(own[60] ? api[60] : api[25]);
		if (i % 3 == 0) {
			waited += timed(api[13]);
			copied += timed(own[75] ? api[75] : api[25]);
		}
	}
	printf("%d %lld %lld %lld", api == own, compiled, waited, copied);
	for (int i = 0; i < 6; i++)
		printf(" %d", ((int *)own[13](0))[i]);
	return 0;
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
