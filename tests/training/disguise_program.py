# SPDX-License-Identifier: Apache-2.0
"""Looks at functions that are timed: they must pass for what they were. Any Python from 3.8."""

import colorsys  # by the time of these imports the bootstrap has run
import copy
import gc
import inspect
import pickle
import string
import sys
import traceback
import types
import weakref

function = colorsys.rgb_to_hsv
assert isinstance(function, types.FunctionType) and inspect.isfunction(function)
assert list(inspect.signature(function).parameters) == ["r", "g", "b"]
assert function.__name__ == "rgb_to_hsv" and repr(function).startswith("<function rgb_to_hsv at ")
assert pickle.loads(pickle.dumps(function)) is function
assert copy.deepcopy(function) is function

for _ in range(10):
    assert function(1, 0, b=0) == (0.0, 1.0, 1)
try:
    function(1)
except TypeError as error:
    # no frame but ours
    assert len(traceback.extract_tb(error.__traceback__)) == 1
    assert "rgb_to_hsv() missing 2 required" in str(error)
else:
    raise AssertionError("a missing argument passed")
try:
    type(function)()
except TypeError:
    pass
else:
    raise AssertionError("an empty function was made")

function.mark = 5
assert function.mark == 5
del function.mark
assert not hasattr(function, "mark")


class Method:
    hsv = function

    def __init__(self):
        self.calls = 0


try:
    Method().hsv(1, 2)  # bound: r is the instance
except TypeError:
    pass
else:
    raise AssertionError("a method was not bound")

if sys.version_info >= (3, 9):
    assert weakref.ref(function)() is function
template = string.Template("$a b")
for _ in range(7):
    assert template.substitute(a=1) == "1 b"

callers = []
sys.setprofile(lambda frame, event, argument: callers.append(frame.f_code.co_filename))
function(1, 0, 0)
import colorsys as again  # noqa
sys.setprofile(None)
assert "<stageprof>" not in callers

gc.collect()
assert not [name for name in sys.modules if "stageprof" in name]
print("same")
