# SPDX-License-Identifier: Apache-2.0
"""Calls one small function that is timed, as often as asked."""

import colorsys
import sys

function = colorsys.rgb_to_yiq
for _ in range(int(sys.argv[1])):
    function(1, 2, 3)
