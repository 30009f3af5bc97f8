# SPDX-License-Identifier: Apache-2.0
"""python -m stageprof kernel install [--user | --sys-prefix | --prefix=DIR] [--output=DIR]

Writes a kernelspec for Jupyter: the kernel of this Python, recorded by stageprof. A notebook picks
it by its name; the other kernels do not change.
"""

import argparse
import json
import os
import sys

from stageprof import program_path

KERNEL = "stageprof"


def kernels_folder(args):
    if args.prefix or args.sys_prefix:
        return os.path.join(args.prefix or sys.prefix, "share", "jupyter", "kernels")
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(os.environ.get("JUPYTER_DATA_DIR") or f"{data}/jupyter", "kernels")


def specification(output):
    command = [program_path("stageprof"), "run"]
    if output:
        command.append(f"--output={os.path.abspath(output)}")
    command += ["--", sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    return {
        "argv": command,
        "display_name": f"Python {sys.version_info[0]} (stageprof)",
        "language": "python",
        "metadata": {"debugger": True},
    }


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m stageprof kernel", description=__doc__)
    parser.add_argument("command", choices=["install"])
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user (the default)")
    place.add_argument("--sys-prefix", action="store_true", help="for this environment")
    place.add_argument("--prefix", help="below this folder")
    parser.add_argument("--output", help="the folder of each run")
    args = parser.parse_args(arguments)
    folder = os.path.join(kernels_folder(args), KERNEL)
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(specification(args.output), file, indent=1)
    except OSError as error:
        print(f"stageprof: cannot write {folder}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"wrote {folder}/kernel.json; start it by: jupyter notebook --kernel {KERNEL}")
    return 0
