# SPDX-License-Identifier: Apache-2.0
"""The first call of the model does something that no later one does."""

import own_timers as own
import torch


class Tuned(own.Net):
    def __init__(self):
        super().__init__(forward_ms=1, backward_ms=1)
        self.is_tuned = False

    def forward(self, rows):
        if not self.is_tuned:
            self.is_tuned = True
            square = torch.ones(400, 400)
            for _ in range(400):
                square = torch.tanh(square @ square)
        return super().forward(rows)


net = Tuned()
optimizer = own.adam(net)
for rows, labels in own.batches(own.loader(40)):
    own.step(net, optimizer, rows, labels)
own.show()
