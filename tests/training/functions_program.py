# SPDX-License-Identifier: Apache-2.0
"""Calls functions of its own, with no framework."""

import functools
import json
import sys


def total(n):
    return sum(range(n))


class Table:
    def row(self, n):
        return total(n)

    @staticmethod
    def empty():
        return 0


def decorated(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)

    return call


@decorated
def doubled(n):
    return 2 * n


def raises():
    raise ValueError


def factorial(n):
    return n * factorial(n - 1) if n else 1


total(10)
for _ in range(4):
    Table().row(5)
    Table.empty()
for _ in range(3):
    try:
        raises()
    except ValueError:
        pass
print(json.dumps(1), doubled(3), doubled(4), factorial(5), sys.getprofile() is None)
