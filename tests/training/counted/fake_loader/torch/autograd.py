# SPDX-License-Identifier: Apache-2.0
"""torch.autograd by name: backward calls what it is given."""


def backward(function):
    return function()
