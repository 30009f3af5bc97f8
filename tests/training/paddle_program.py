# SPDX-License-Identifier: Apache-2.0
"""A Paddle loop with a worker, ranges of its own and a checkpoint: two epochs of 6 batches."""

import paddle
from paddle.io import DataLoader, Dataset
from paddle.profiler import RecordEvent


class Rows(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return paddle.full([4], float(index)).numpy(), index % 2


model = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
for _ in range(2):
    for rows, labels in DataLoader(Rows(), batch_size=4, num_workers=1):
        with RecordEvent("outer"):
            event = RecordEvent("inner")
            event.begin()
            loss = paddle.nn.functional.cross_entropy(model(rows), labels)
            event.end()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    paddle.save(model.state_dict(), "model.pdparams")
print("trained")
