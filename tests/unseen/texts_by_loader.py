# SPDX-License-Identifier: Apache-2.0
"""The model takes texts of a loader, and its forward tokenises them."""

import random, torch, watched as own
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.utils.data import DataLoader

random.seed(1)
words = ["".join(random.choices("abcdefgh", k=random.randint(2, 9))) for _ in range(3000)]
texts = [" ".join(random.choices(words, k=300)) for _ in range(400)]
tok = Tokenizer(models.BPE())
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=800, show_progress=False))
tok.enable_padding()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.out = nn.EmbeddingBag(800, 64), nn.Linear(64, 2)

    def forward(self, texts):
        with own.row("tokenize"):
            ids = torch.tensor([tok.encode(text).ids[:256] for text in texts])
        return self.out(self.emb(ids))


net = Encoder()
opt = torch.optim.Adam(net.parameters())
for batch in DataLoader(texts * 20, 32, shuffle=True):
    opt.zero_grad()
    net(batch).square().mean().backward()
    opt.step()
    own.step()
own.show(epochs=1, loose=["forward"], why=["input-bound"])
