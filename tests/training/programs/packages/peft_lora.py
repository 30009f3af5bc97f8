# SPDX-License-Identifier: Apache-2.0
"""Low-rank adapters of peft on a small GPT-2, a loop by hand."""

import timers as own
import vision  # noqa: F401
import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader, TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel

torch.set_num_threads(1)
torch.manual_seed(0)
base = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=128, n_layer=2, n_head=4))
net = get_peft_model(base, LoraConfig(r=4, target_modules=["c_attn"], task_type="CAUSAL_LM"))
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
loader = DataLoader(TensorDataset(torch.randint(0, 500, (240, 64))), batch_size=8)
for epoch in own.epochs(2):
    net.train()
    for (tokens,) in own.batches(loader):
        with own.row("forward"):
            loss = net(input_ids=tokens, labels=tokens).loss
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        own.step()
    with own.row("evaluation"), torch.no_grad():
        net.generate(input_ids=tokens[:2, :8], max_new_tokens=16, do_sample=True, pad_token_id=0)
    with own.row("checkpoint"):
        net.save_pretrained("adapter")
own.show()
