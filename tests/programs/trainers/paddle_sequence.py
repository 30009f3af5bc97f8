# SPDX-License-Identifier: Apache-2.0
"""A sequence trainer on Paddle: made sentences, an embedding, a GRU, a classifier.

    python3 paddle_sequence.py
"""

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset

WORDS, LENGTH, CLASSES, SENTENCES, BATCH, EPOCHS = 200, 16, 5, 96, 4, 1


class Sentences(Dataset):
    def __len__(self):
        return SENTENCES

    def read(self, index):
        return np.random.default_rng(index).integers(0, WORDS, LENGTH)

    def __getitem__(self, index):
        return self.read(index), np.int64(index % CLASSES)


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32)
        self.gru = nn.GRU(32, 32)
        self.head = nn.Linear(32, CLASSES)

    def forward(self, words):
        return self.head(self.gru(self.embedding(words))[0][:, -1])


def make():
    paddle.seed(0)
    model = Classifier()
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    return model, optimizer, DataLoader(Sentences(), batch_size=BATCH, num_workers=0)


def main():
    model, optimizer, loader = make()
    for _ in range(EPOCHS):
        for words, labels in loader:
            loss = nn.functional.cross_entropy(model(words), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    print(f"loss {float(loss):.4f}")


if __name__ == "__main__":
    main()
