# SPDX-License-Identifier: Apache-2.0
"""Each text is cleaned by eight regular expressions in the training process."""

import random, re, torch, watched as own
from torch.utils.data import DataLoader, Dataset

random.seed(0)
letters = "abcdefghij.,<>&;@ "
texts = ["".join(random.choices(letters, k=2800)) for _ in range(200)]
found = r"<[^>]*>", r"&\w+;", r"\S+@\S+", r"(\w)\1+", r"\s+", r"[^\w ]", r"\b\w\b", r"(ab|cd)+"
rules = [re.compile(pattern) for pattern in found]


class Texts(Dataset):
    def __len__(self):
        return 2400

    def __getitem__(self, i):
        text = texts[i % 200]
        for rule in rules:
            text = rule.sub(" ", text)
        words = [hash(word) % 1000 for word in text.split()[:128]]
        return torch.tensor(words + [0] * (128 - len(words)))


net = torch.nn.Sequential(torch.nn.EmbeddingBag(1000, 64), torch.nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(Texts(), 16, shuffle=True):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
