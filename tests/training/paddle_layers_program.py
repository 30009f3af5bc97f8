# SPDX-License-Identifier: Apache-2.0
"""Eight steps of a Paddle model of layers in layers. A layer raises once, one model is static, and
one layer is copied and saved with its hooks. Prints the last loss."""

import copy

import paddle

STEPS = 8


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.mix = paddle.nn.Linear(8, 8)
        self.fails = False

    def forward(self, rows):
        if self.fails:
            raise ValueError("asked for")
        return self.mix(rows) + rows * 2.0


paddle.seed(1)
model = paddle.nn.Sequential(Block(), paddle.nn.ReLU(), paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
rows = paddle.ones([4, 8])
for _ in range(STEPS):
    loss = (model(rows) @ paddle.ones([1, 1])).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
model[0].fails = True
try:
    model(rows)
except ValueError:
    model[0].fails = False
twin = copy.deepcopy(model)
static = paddle.jit.to_static(paddle.nn.Linear(8, 1))
static(rows)
paddle.save(model.state_dict(), "model.pdparams")
print(f"{float(loss):.9f}", f"{float(twin(rows).sum()):.9f}")
