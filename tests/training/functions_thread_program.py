# SPDX-License-Identifier: Apache-2.0
"""Calls functions of its own in another thread alone."""

import threading

CALLS = 7


class Table:
    def __getitem__(self, i):
        return i + 1


def looked_up(table):
    for i in range(CALLS):
        table[i]


def busy():
    return None


for _ in range(2000):
    busy()
thread = threading.Thread(target=looked_up, args=(Table(),))
thread.start()
thread.join()
