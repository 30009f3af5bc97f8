"""A training loop in a PyTorch whose version nothing is known of.

    python3 unknown_version.py LOOP.py
"""

import runpy
import sys
import types

sys.modules["torch.version"] = types.ModuleType("torch.version")
vars(sys.modules["torch.version"]).update(
    __version__="3.0.0", cuda=None, hip=None, xpu=None, debug=False, git_version="", rocm=None
)
runpy.run_path(sys.argv[1], run_name="__main__")
