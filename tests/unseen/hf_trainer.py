# SPDX-License-Identifier: Apache-2.0
"""A small BERT of transformers under its Trainer, evaluated each 50 steps, one log a step."""

import os, torch, watched as own
from sets import FOLDER
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.utils import logging

logging.disable_progress_bar()


class Texts(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        ids = torch.randint(5, 1000, (48,), generator=g)
        return {
            "input_ids": ids,
            "attention_mask": torch.ones(48, dtype=torch.long),
            "labels": i % 2,
        }


class Count(TrainerCallback):
    def on_step_end(self, args, state, control, **k):
        own.step()


config = BertConfig(
    vocab_size=1000,
    hidden_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=192,
)
args = TrainingArguments(
    FOLDER,
    num_train_epochs=1,
    per_device_train_batch_size=16,
    use_cpu=True,
    report_to=[],
    eval_strategy="steps",
    eval_steps=50,
    logging_steps=1,
    save_strategy="no",
    disable_tqdm=True,
    log_level="error",
)
t = Trainer(
    BertForSequenceClassification(config),
    args,
    train_dataset=Texts(1600),
    eval_dataset=Texts(160),
    callbacks=[Count()],
)
from transformers.trainer_callback import PrinterCallback

t.remove_callback(PrinterCallback)
t.train()
own.show(
    epochs=1,
    loose=[
        "forward",
        "backward",
        "optimizer",
        "zero_grad",
        "validation",
        "loader_wait",
        "loss",
        "evaluation",
    ],
    why=["compute-bound", "loop-bound"],
)
