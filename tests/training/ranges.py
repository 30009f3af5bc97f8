# SPDX-License-Identifier: Apache-2.0
"""Reads the ranges of a run by itself: a second reader of trace/format.h, for tests of what was
recorded.

python3 ranges.py RUN     prints the ranges, summed by process, event and name
"""

import collections
import glob
import os
import re
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER, BLOCK, FREE, WINDOW = 0x184D2A50, 0x184D2A51, 0x184D2A52, 0x184D2A53
EXTRA, BLOB, DEFINE = 0xFFF0, 0xFFF1, 0xFF00
NAME, COVERAGE = 1, 6
HEADER_FRAME, BLOCK_FRAME, WINDOW_HEAD = 512, 152, 256
WORD = (1 << 64) - 1  # times are numbers of 64 bits, which wrap

Range = collections.namedtuple("Range", "pid tid event name part start_ns ns")


def table(path, pattern):
    with open(os.path.join(ROOT, path)) as file:
        return re.findall(pattern, file.read(), re.M)


EVENTS = {
    int(n): (name, cls)
    for n, name, cls in table("trace/events.def", r"^SP_EVENT\((\d+), (\w+), (\w+)")
}
PARTS = table("trace/phases.def", r"^SP_PHASE\((\w+),")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & WORD, at
        shift += 7


def unzigzag(x):
    return x >> 1 ^ -(x & 1)


class Column:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value, self.at = varint(self.data, self.at)
        return value


def unpacked(column, count):
    """Packed numbers: groups of 64."""
    numbers = []
    while len(numbers) < count:
        n = min(64, count - len(numbers))
        width, exceptions = column.data[column.at : column.at + 2]
        column.at += 2
        least = unzigzag(column.next())
        bits = int.from_bytes(column.data[column.at : column.at + (n * width + 7) // 8], "little")
        column.at += (n * width + 7) // 8
        group = [bits >> i * width & (1 << width) - 1 for i in range(n)]
        places = column.data[column.at : column.at + exceptions]
        column.at += exceptions
        for place in places:
            group[place] += column.next() << width
        numbers += [least + number for number in group]
    return numbers


class Kind:
    def __init__(self, kind, slots):
        self.kind, self.slots, self.value, self.arg = kind, slots, 0, 0
        self.is_event = kind not in (0, EXTRA, BLOB)


def decode(payload):
    """Slots (kind, arg, start, ticks, value or bytes) of one block."""
    slots, grain, base = struct.unpack_from("<IIQ", payload)
    *lengths, coding = struct.unpack_from("<8I", payload, 16)
    assert coding == 1, coding
    at, columns = 48, []
    for length in lengths:
        columns.append(Column(payload[at : at + length]))
        at += length
    tokens, args, values, blobs, gaps, ticks, _ = columns
    kinds = [Kind(tokens.next(), tokens.next()) for _ in range(tokens.next())]
    events = [kind for kind in kinds if kind.is_event]
    total = sum(kind.slots for kind in events)
    all_gaps, all_ticks = iter(unpacked(gaps, total)), iter(unpacked(ticks, total))
    for kind in events:
        kind.gaps = iter([next(all_gaps) for _ in range(kind.slots)])
        kind.ticks = iter([next(all_ticks) for _ in range(kind.slots)])
    arg, end = 0, base
    for _ in range(slots):
        token = tokens.next()
        kind = kinds[token >> 3]
        if kind.kind == BLOB:
            n = blobs.data[blobs.at]
            yield BLOB, n, 0, 0, blobs.data[blobs.at + 1 : blobs.at + 1 + n]
            blobs.at += 1 + n
        elif kind.is_event:
            source = token >> 1 & 3
            now = (arg, 0, None, kind.arg)[source]
            if source == 2:
                now = arg + unzigzag(args.next()) & 0xFFFFFFFF
            arg, kind.arg = now or arg, now or kind.arg
            kind.value = unzigzag(values.next()) if token & 1 else kind.value
            start = end + next(kind.gaps) * grain & WORD
            length = next(kind.ticks) * grain & WORD
            yield kind.kind, now, start, length, kind.value
            end = start + length & WORD


def window_slots(data, at, first):
    """Slots of a raw window that are younger than what the blocks hold."""
    capacity = struct.unpack_from("<I", data, at + 32)[0]
    shift = capacity.bit_length() - 1
    number = first
    while True:
        slot = at + WINDOW_HEAD + (number & capacity - 1) * 32
        start, ticks, value, commit = struct.unpack_from("<QQqQ", data, slot)
        if commit & 0xFFFF == 0 or commit >> 16 & 0xFF != number >> shift & 0xFF:
            return
        kind = commit & 0xFFFF
        if kind == BLOB:
            yield kind, commit >> 32, 0, 0, data[slot : slot + (commit >> 32)]
        else:
            yield kind, commit >> 32, start, ticks, value
        number += 1


def streams(path):
    """The streams of a file: a thread may continue the file that one of another process left."""
    with open(path, "rb") as file:
        data = file.read()
    begin = at = 0
    while at + 8 <= len(data):
        magic, size = struct.unpack_from("<II", data, at)
        if magic == HEADER and at > begin:
            yield data[begin:at]
            begin = at
        if magic == BLOCK:
            at += BLOCK_FRAME + struct.unpack_from("<I", data, at + 132)[0]
        else:
            at += 8 + size
    yield data[begin:]


class Stream:
    """One stream, whose parts may lie in several files, and a block in two of them for a while."""

    def __init__(self, data):
        self.blocks, self.windows = {}, []  # number of a block's first slot -> (slots, frames)
        self.pid, self.tid = struct.unpack_from("<II", data, 48)
        self.image = (self.pid, struct.unpack_from("<Q", data, 64)[0])
        opened_ticks, opened_ns = struct.unpack_from("<QQ", data, 80)
        rate = struct.unpack_from("<Q", data, 104)[0]
        self.clock = (opened_ticks, opened_ns, rate)

    def ns(self, ticks):
        return ticks * 1000000000 // self.clock[2]

    def monotonic_ns(self, ticks):
        return self.clock[1] + self.ns(ticks - self.clock[0])

    def add(self, data):
        at = 0
        while at + 8 <= len(data):
            magic, size = struct.unpack_from("<II", data, at)
            if magic == BLOCK:
                first, slots = struct.unpack_from("<QI", data, at + 64)
                begin = at + BLOCK_FRAME
                at = begin + struct.unpack_from("<I", data, at + 132)[0]
                self.blocks[first] = slots, data[begin:at]
                continue
            if magic == WINDOW:
                self.windows.append((data, at))
            at += 8 + size

    def slots(self):
        next_slot = 0
        for first, (slots, frames) in sorted(self.blocks.items()):
            done = subprocess.run(
                ["zstd", "-dcq"], input=frames, stdout=subprocess.PIPE, check=True
            )
            yield from decode(done.stdout)
            next_slot = first + slots
        for data, at in self.windows:
            yield from window_slots(data, at, next_slot)


class Run:
    """ranges, and coverage lines as (pid, group, state, detail)."""

    def __init__(self, path):
        self.ranges, self.coverage, self.names = [], [], {}
        pending, found = [], {}  # id of a stream -> the stream
        for name in sorted(glob.glob(os.path.join(glob.escape(path), "*"))):
            for data in streams(name):
                if len(data) >= HEADER_FRAME and struct.unpack_from("<I", data)[0] == HEADER:
                    number = struct.unpack_from("<Q", data, 24)
                    found.setdefault(number, Stream(data)).add(data)
        for stream in found.values():
            self.read(stream, pending)
        for stream, kind, arg, start, ticks, value in pending:
            event, _ = EVENTS[kind]
            part = (
                PARTS[value]
                if event == "python_call"
                else event if event.startswith("loader_") else None
            )
            name = self.names.get((stream.image, arg))
            begin_ns, ns = stream.monotonic_ns(start), stream.ns(ticks)
            self.ranges.append(Range(stream.pid, stream.tid, event, name, part, begin_ns, ns))

    def define(self, stream, what, arg, text):
        if what == NAME:
            self.names[stream.image, arg] = text.decode(errors="replace")
        elif what == COVERAGE:
            self.coverage.append((stream.pid, *text.decode().split("\t")))

    def read(self, stream, pending):
        left, opened = 0, None
        for kind, arg, start, ticks, value in stream.slots():
            if kind == BLOB and opened:
                opened[2] += value
                left -= len(value)
                if left <= 0:
                    self.define(stream, *opened)
                    opened = None
            elif kind >= DEFINE:
                opened, left = [kind - DEFINE, arg, b""], value
            elif EVENTS.get(kind, ("", ""))[1] == "RANGE":
                pending.append((stream, kind, arg, start, ticks, value))

    def count(self, event=None, name=None, part=None, pid=None):
        return len(self.find(event, name, part, pid))

    def find(self, event=None, name=None, part=None, pid=None):
        return [
            r
            for r in self.ranges
            if event in (None, r.event)
            and name in (None, r.name)
            and part in (None, r.part)
            and pid in (None, r.pid)
        ]


def main():
    run = Run(sys.argv[1])
    sums = {}
    for r in run.ranges:
        calls, ns = sums.get((r.pid, r.event, r.part, r.name), (0, 0))
        sums[r.pid, r.event, r.part, r.name] = calls + 1, ns + r.ns
    for key, (calls, ns) in sorted(sums.items(), key=str):
        print(*key, calls, f"{ns / 1e6:.3f} ms", sep="\t")
    for line in run.coverage:
        print("coverage", *line, sep="\t")


if __name__ == "__main__":
    main()
