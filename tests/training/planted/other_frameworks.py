# SPDX-License-Identifier: Apache-2.0
"""Plants faults in trainers of JAX and Keras, and compares what the report says with the trainer's
own counts: the verdict is right, or abstains where batches are asked for inside of a step's call,
and no part of it misleads.

    other_frameworks.py [--few] [TRAINER.FAULT...]    exit 77 where none could be run
"""

import os
import sys

import harness
import training

VERDICTS = {
    "slow_storage": "storage-bound",
    "slow_transform": "input-bound",
    "one_worker": "input-bound",
    "cold_first_batch": "first-batch-bound",
    "checkpoint_each_step": "checkpoint-bound",
    "healthy": "compute-bound",
}
TRAINERS = ("jax_grain", "jax_torch", "keras_data")
FEW = ("jax_grain.healthy", "jax_torch.slow_transform")
TO_LOOK = {"unseen_batches"}  # advice that changes what is recorded, and not the trainer
SLOW_FILES = {"slow_storage": (12000, 100)}


def record(trainer, fault, folder):
    """Returns the summary, and what the trainer counted itself."""
    program = os.path.join(harness.HERE, "other", trainer + ".py")
    how = {"interpreter": training.frameworks(), "KERAS_BACKEND": "tensorflow"}
    said = harness.record_program(program, [fault], folder, *SLOW_FILES.get(fault, ()), **how)
    return harness.report(os.path.join(folder, "run.zst")), *(int(word) for word in said.split())


def hides(trainer, fault):
    """Keras on TensorFlow takes its batches inside of the step's call. Checkpoints lie outside."""
    return trainer == "keras_data" and fault != "checkpoint_each_step"


def accepted(trainer, fault):
    """No call shows what Grain's workers do with a file."""
    both = trainer == "jax_grain" and fault == "slow_storage"
    return (VERDICTS[fault], "input-bound") if both else (VERDICTS[fault],)


def part(summary, name):
    return sum(row["ns"] or 0 for row in summary["account"] if row["part"] == name)


def whole(summary):
    return sum(row["ns"] or 0 for row in summary["account"])


def waits_wrong(summary, steps, waited_ns, begun_ns):
    """Complaints about the waits for batches; the begin of a loader may be one."""
    waits, delta = part(summary, "loader_wait"), 0.05 * waited_ns + steps * 5000
    if not waited_ns - delta <= waits <= waited_ns + begun_ns + delta:
        yield f"waits {waits} ns, not {waited_ns} (and {begun_ns} for begins)"


def complaints(trainer, fault, summary, steps, *waits):
    verdict = summary["verdict"]
    abstains = verdict["reason"] == "not-recorded" and verdict["confidence"] == "low"
    if verdict["code"] not in accepted(trainer, fault) and not (abstains and hides(trainer, fault)):
        yield f"verdict {verdict['code']}, confidence {verdict['confidence']}"
    if summary["steps"]["count"] != steps:
        yield f"{summary['steps']['count']} steps, not {steps}"
    changes = {line["id"] for line in summary["advice"]} - TO_LOOK
    if fault == "healthy" and changes:
        yield f"advice: {' '.join(sorted(changes))}"
    if trainer != "keras_data":
        yield from waits_wrong(summary, steps, *waits)
    if fault == "checkpoint_each_step" and 2 * part(summary, "checkpoint") < whole(summary):
        yield "checkpoints are not most of the time"


def judge(trainer, fault):
    """A row of the table, and whether it is right; None where it could not be run."""
    try:
        with harness.scratch() as folder:
            summary, *own = record(trainer, fault, folder)
            wrong = list(complaints(trainer, fault, summary, *own))
    except harness.CannotRun as reason:
        return f"| {trainer} | {fault} | not run: {reason} | |", None
    words = "; ".join(wrong) or "yes"
    said = "{code}, {confidence}".format(**summary["verdict"])
    return f"| {trainer} | {fault} | {said} | {words} |", not wrong


def main(argv):
    chosen = FEW if argv == ["--few"] else argv
    seen = []
    print("| trainer | planted | verdict | right |\n|---|---|---|---|", flush=True)
    for trainer in TRAINERS:
        for fault in VERDICTS:
            if chosen and f"{trainer}.{fault}" not in chosen:
                continue
            row, right = judge(trainer, fault)
            print(row, flush=True)
            seen.append(right)
    return 1 if False in seen else 0 if True in seen else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
