# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers on a small GPT-2, with evaluation and checkpoints by steps."""

import timers as own
import vision  # noqa: F401
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

torch.set_num_threads(1)
torch.manual_seed(0)


class Text(Dataset):
    def __init__(self, count):
        self.tokens = torch.randint(0, 500, (count, 64))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


class Model(GPT2LMHeadModel):
    def __call__(self, *args, **names):
        if not torch.is_grad_enabled() or own.inside("validation"):
            return super().__call__(*args, **names)
        with own.row("forward"):
            return super().__call__(*args, **names)


class Counter(TrainerCallback):
    def on_step_end(self, *_args, **_names):
        own.step()

    def on_epoch_begin(self, *_args, **_names):
        own.count["epochs"] += 1


from torch.utils.data import dataloader  # noqa: E402

own.patch(dataloader._BaseDataLoaderIter, "__next__", own.outside("loader_wait", "validation"))
own.patch(dataloader.DataLoader, "__iter__", own.outside("loader_wait", "validation"))
own.patch(torch.Tensor, "backward", "backward")
own.patch(Trainer, "evaluate", "validation")
own.patch(torch.optim.AdamW, "step", "optimizer")
own.patch(torch, "save", "checkpoint")
own.patch(Trainer, "save_model", "checkpoint")

net = Model(GPT2Config(vocab_size=500, n_positions=64, n_embd=128, n_layer=2, n_head=4))
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    per_device_eval_batch_size=16,
    gradient_accumulation_steps=2,
    num_train_epochs=2,
    eval_strategy="steps",
    eval_steps=10,
    save_steps=20,
    logging_steps=5,
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(
    model=net,
    args=arguments,
    train_dataset=Text(320),
    eval_dataset=Text(96),
    callbacks=[Counter()],
)
trainer.train()
own.show()
