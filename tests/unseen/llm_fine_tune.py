# SPDX-License-Identifier: Apache-2.0
"""A small causal model of transformers; its collate tokenises texts as they come."""

import random, torch, watched as own
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

random.seed(1)
words = ["".join(random.choices("abcdefgh", k=random.randint(2, 9))) for _ in range(3000)]
texts = [" ".join(random.choices(words, k=2000)) for _ in range(800)]
tok = Tokenizer(models.BPE())
tok.pre_tokenizer = pre_tokenizers.Whitespace()
trainer = trainers.BpeTrainer(special_tokens=["[PAD]"], vocab_size=800, show_progress=False)
tok.train_from_iterator(texts[:40], trainer)
fast = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]")


def collate(batch):
    ids = fast(batch, return_tensors="pt", padding=True, truncation=True, max_length=32)
    return ids


config = LlamaConfig(
    vocab_size=800,
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
)
net = LlamaForCausalLM(config)
opt = torch.optim.AdamW(net.parameters())
for batch in DataLoader(texts, 8, collate_fn=collate):
    opt.zero_grad()
    ids, mask = batch["input_ids"], batch["attention_mask"]
    net(input_ids=ids, attention_mask=mask, labels=ids).loss.backward()
    opt.step()
    own.step()
own.show(epochs=1)
