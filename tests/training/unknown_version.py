# SPDX-License-Identifier: Apache-2.0
"""A training loop in a PyTorch whose version nothing is known of.

    python3 unknown_version.py LOOP.py
"""

import importlib.machinery
import runpy
import sys


class Disguised(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        module.__version__ = "3.0.0"


class Finder(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target) if name == "torch.version" else None
        if spec:
            spec.loader = Disguised(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)
runpy.run_path(sys.argv[1], run_name="__main__")
