# SPDX-License-Identifier: Apache-2.0
"""A text classifier of spaCy: its library Thinc imports PyTorch and trains without it."""

import random

import spacy
import timers as own
from spacy.training import Example

EXAMPLES, WORDS = 300, [f"w{i}" for i in range(500)]
language = spacy.blank("en")
classifier = language.add_pipe("textcat")
for label in ("a", "b"):
    classifier.add_label(label)
examples = [
    Example.from_dict(
        language.make_doc(" ".join(random.choices(WORDS, k=40))),
        {"cats": {"a": float(i % 2), "b": float(1 - i % 2)}},
    )
    for i in range(EXAMPLES)
]
optimizer = language.initialize(lambda: examples)
for batch in spacy.util.minibatch(examples, 16):
    with own.row("forward"):
        language.update(batch, sgd=optimizer)
own.show(steps=0, epochs=None, rows={}, why=["cannot-tell"])
