# SPDX-License-Identifier: Apache-2.0
"""Fires as many of PyTorch's markers as asked, with no PyTorch."""

import sys

import torch

torch.fire(int(sys.argv[1]))
