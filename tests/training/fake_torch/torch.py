# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as markers need: its version, and a libtorch_cpu.so that is loaded."""

import ctypes
import os

__version__ = "2.13.0"
fire = ctypes.CDLL(os.environ["FAKE_TORCH"]).fire
