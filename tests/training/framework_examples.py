# SPDX-License-Identifier: Apache-2.0
"""Trainers in the shape of each framework's own examples, as users run them. Steps are the
trainer's own count, waits within 5% + 5 µs each of its own timer, and the verdict is that of the
largest of the trainer's own times, or abstains. Prints the table of docs/tests/CALIBRATION.md.

    framework_examples.py [EXAMPLE...]    exit 77 without build/venv-frameworks
"""

import json
import os
import subprocess
import sys
import tempfile

import training

EXAMPLES = os.path.join(training.HERE, "other_frameworks", "examples")
BACKENDS = ("jax", "tensorflow", "torch")
ABSTAINS = ("not-recorded", "machine-busy")
# The least share of a cost in the trainer's own time, below the rule's threshold: its time ends
# with the last step, and the report's with what follows.
LEAST = {"input-bound": 0.04, "compile-bound": 0.15, "loop-bound": 0.04}
ROWS = [
    ("JAX, Flax Linen", "flax_linen", {}),
    ("JAX, Flax NNX", "flax_nnx", {}),
    ("JAX", "jax_perceptron", {}),
    *((f"Keras on {b}", "keras_convnet", {"KERAS_BACKEND": b}) for b in BACKENDS),
    *((f"Keras on {b}", "keras_subclass", {"KERAS_BACKEND": b}) for b in BACKENDS),
    ("TensorFlow", "tensorflow_function", {}),
    ("TensorFlow", "tensorflow_eager", {}),
    ("XGBoost", "xgboost_native", {}),
    ("XGBoost", "xgboost_sklearn", {}),
    ("LightGBM", "lightgbm_native", {}),
    ("LightGBM", "lightgbm_sklearn", {}),
    ("CatBoost", "catboost_pool", {}),
    ("CatBoost", "catboost_regressor", {}),
    ("scikit-learn", "sklearn_partial", {}),
    ("scikit-learn", "sklearn_search", {}),
    ("libtorch", "digits.cpp", {}),
    ("libtorch", "waves.cpp", {}),
]


def libtorch_made(source, output, *flags):
    """libtorch's own headers and libraries are parts of PyTorch's package."""
    ask = "import os, torch; print(os.path.dirname(torch.__file__))"
    told = subprocess.run([training.interpreter(), "-c", ask], stdout=subprocess.PIPE, check=True)
    torch = told.stdout.decode().strip()
    headers = [torch + "/include", torch + "/include/torch/csrc/api/include"]
    source = os.path.join(training.TRAINERS, source)
    libraries = [f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", "-Wl,--no-as-needed"]
    command = ["c++", "-std=c++20", *flags, *(f"-I{folder}" for folder in headers), source]
    command += ["-o", output, *libraries, "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True)


def command_of(example, folder):
    if example.endswith(".cpp"):
        libtorch_made(example, os.path.join(folder, "example"))
        return ["./example"]
    return [training.frameworks(), os.path.join(EXAMPLES, example + ".py")]


def own_counts(said):
    """The line of JSON in which an example counts itself, or the numbers of digits.cpp."""
    for line in said.splitlines():
        if line.startswith("own "):
            return json.loads(line[4:])
    return {"steps": int(said.split()[0]), "waited_ns": None, "made_ns": 0}


def is_right(own, waits, code):
    """Data in memory, and a processor that is never idle: what is no wait, no compilation and none
    of the loop's own code is the model's, or no call explains it."""
    trained = own.get("trained_ns") or 0
    costs = {"input-bound": own["waited_ns"] or 0, "compile-bound": own.get("first_ns", 0)}
    # Waits that the example cannot time are a part of its loop's time.
    costs["loop-bound"] = own.get("loop_ns", 0) - (waits if own["waited_ns"] is None else 0)
    if code in costs:
        return costs[code] >= LEAST[code] * trained
    return code in ("compute-bound", "unexplained") and own["steps"] > 0


def complaints(own, steps, waits, verdict):
    if steps != own["steps"]:
        yield f"{steps} steps"
    waited, most = own["waited_ns"], 0.05 * (own["waited_ns"] or 0) + own["steps"] * 5000
    # The making of an iterator is a wait where a framework makes it in a call.
    if waited is not None and not waited - most < waits < waited + own["made_ns"] + most:
        yield f"waits {waits} ns, not {waited}"
    abstains = verdict["reason"] in ABSTAINS and verdict["confidence"] == "low"
    if not abstains and not is_right(own, waits, training.told(verdict)):
        yield f"verdict {training.told(verdict)}, {verdict['confidence']}"


def judge(framework, example, settings):
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(example, folder)
        settings = {"PYTHONPATH": EXAMPLES, **settings}
        done = training.execute(["env", "OMP_NUM_THREADS=2", *command], folder, **settings)
        if done.returncode:
            raise AssertionError(f"{example}: {done.returncode}: {done.stderr.decode()}")
        summary = training.report("summary", os.path.join(folder, "run.zst"))
    own, verdict = own_counts(done.stdout.decode()), summary["verdict"]
    steps = summary["steps"]["count"]
    waits = sum(r["ns"] or 0 for r in summary["account"] if r["part"] == "loader_wait")
    wrong = list(complaints(own, steps, waits, verdict))
    waited = own["waited_ns"]
    ratio = "-" if waited is None else f"{waited / 1e6:.1f} ms | {waits / 1e6:.1f} ms"
    cells = [framework, example, own["steps"], steps, ratio if waited else "- | -"]
    cells += [f"{verdict['code']}, {verdict['confidence']}", "; ".join(wrong) or "yes"]
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
    return not wrong


def main(argv):
    training.frameworks()
    print("| framework | example | steps | recorded | waits | recorded | verdict | right |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    chosen = [row for row in ROWS if not argv or row[1] in argv]
    return 0 if all([judge(*row) for row in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
