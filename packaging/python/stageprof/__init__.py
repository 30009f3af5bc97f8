# SPDX-License-Identifier: Apache-2.0
"""Where a training job's time goes, with no change to the job.

The wheel holds programs, and this module finds them:

    stageprof run -- python train.py        in a shell
    python -m stageprof run -- python train.py
    stageprof.start()                       in a job that cannot be started with an environment
"""

import ctypes
import importlib.metadata
import os
import sys

__all__ = ["__version__", "library_path", "program_path", "start"]

_NAME = "stageprof"
_LIBRARY = "libstageprof.so"
_OLDEST_GLIBC = (2, 17)


def _installed(ending):
    """The path of the installed file with this end, from the list that the installer wrote."""
    for file in importlib.metadata.files(_NAME) or ():
        path = os.path.realpath(file.locate())
        if path.endswith(ending) and os.path.isfile(path):
            return path
    raise FileNotFoundError(
        f"stageprof: this installation has no {ending.lstrip('/')}; "
        "give: python -m pip install --force-reinstall stageprof"
    )


def library_path():
    """The library for LD_PRELOAD."""
    return _installed("/" + _LIBRARY)


def program_path(name):
    """The program `stageprof` or `stageprof-report`."""
    return _installed("/bin/" + name)


def unfit():
    """Why the programs and the library cannot run under this interpreter's libc; None: they can."""
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
        numbers = tuple(int(part) for part in version.split(".")[:2])
    except (AttributeError, OSError, ValueError):
        return "it needs glibc, and this Python has another libc (such as musl)"
    if name != "glibc" or numbers < _OLDEST_GLIBC:
        return f"it needs glibc 2.17 or later, and this Python has {name} {version}"
    return None


def _is_loaded():
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.rstrip().endswith("/" + _LIBRARY) for line in maps)


def start(**settings):
    """Records this process from now on, and each program that it starts from now on.

    A setting is a STAGEPROF_* variable without the prefix: start(output="run.zst"). Returns False
    where the process records already, and where it cannot: a line on stderr says why. Call it
    before the imports of the training.

    Late loading misses calls that the program bound before: reads, waits, decoding and CUDA calls
    of this process and of its forked workers. Steps, phases and ranges come from Python and
    PyTorch, and are recorded. The report has a note of it. `stageprof run` misses nothing of these.
    """
    if _is_loaded():
        return False
    reason = unfit()
    if not reason:
        for name, value in settings.items():  # the library reads them when it is loaded
            os.environ["STAGEPROF_" + name.upper()] = str(value)
        try:
            path = library_path()
            library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            reason = str(error)
    if reason:
        print(f"stageprof: nothing is recorded: {reason}", file=sys.stderr)
        return False
    # Any hook wakes the recorder: its Python part runs before the next instruction of Python.
    library.close(library.open(os.fsencode(os.devnull), os.O_RDONLY))
    if " " not in path and ":" not in path:
        others = os.environ.get("LD_PRELOAD", "")
        os.environ["LD_PRELOAD"] = path + (":" + others if others else "")
    return True


def __getattr__(name):
    if name == "__version__":
        return importlib.metadata.version(_NAME)
    raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
