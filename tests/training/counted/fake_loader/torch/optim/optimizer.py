# SPDX-License-Identifier: Apache-2.0
"""PyTorch's optimizers by name."""


class Optimizer:
    def __init__(self):
        self.param_groups = []
