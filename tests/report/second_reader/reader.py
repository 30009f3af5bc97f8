# SPDX-License-Identifier: Apache-2.0
"""A reader of the trace format that knows docs/FORMAT.md alone.

It shares no code with the analyzer. Where the two disagree on a trace, one of them or the document
is wrong.
"""

import collections
import ctypes
import ctypes.util
import fractions
import os
import struct

HEADER, BLOCK, FREE, WINDOW, RUN, CALL = range(0x184D2A50, 0x184D2A56)
TAGS = {HEADER: b"STAGEPRF", BLOCK: b"SPBK", WINDOW: b"SPWN", RUN: b"SPRUNRUN", CALL: b"SPCALLED"}
HOLE, DEFINE, EXTRA, BLOB = 0, 0xFF00, 0xFFF0, 0xFFF1
MASK = (1 << 64) - 1

Slot = collections.namedtuple("Slot", "start ticks value kind arg blob")
Event = collections.namedtuple("Event", "stream number kind value arg start ticks extra")
Point = collections.namedtuple("Point", "monotonic ticks realtime")
IS_COUNTER, IS_SAMPLER = 1, 16
NOTHING = Slot(0, 0, 0, HOLE, 0, b"")


def library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise ImportError("none of " + ", ".join(names))


zstd = library("libzstd.so.1", ctypes.util.find_library("zstd") or "libzstd.so")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
xxhash = library("libxxhash.so.0", ctypes.util.find_library("xxhash") or "libxxhash.so")
xxhash.XXH64.restype = ctypes.c_uint64
xxhash.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


class Damaged(Exception):
    pass


def hash_of(data):
    return xxhash.XXH64(bytes(data), len(data), 0)


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def zigzag(number):
    return (number >> 1) ^ -(number & 1)


class Bytes:
    """One column, read from its beginning to its end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        if self.at >= len(self.data):
            raise Damaged("a column is too short")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count):
        if self.at + count > len(self.data):
            raise Damaged("a column is too short")
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self):
        number = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number & MASK
        raise Damaged("a varint of more than ten bytes")

    def packed(self, count):
        numbers = []
        while len(numbers) < count:
            group = min(64, count - len(numbers))
            width, exceptions, least = self.byte(), self.byte(), zigzag(self.varint())
            if width > 32 or exceptions > group:
                raise Damaged("a group of packed numbers")
            bits = int.from_bytes(self.take((group * width + 7) // 8), "little")
            found = [bits >> (width * i) & ((1 << width) - 1) for i in range(group)]
            places = [self.byte() for _ in range(exceptions)]
            for place in places:
                if place >= group:
                    raise Damaged("an exception outside its group")
                found[place] |= self.varint() << width
            numbers += [least + number for number in found]
        return numbers

    def end(self):
        if self.at != len(self.data):
            raise Damaged("a column is too long")


def columns_of(payload):
    if len(payload) < 48:
        raise Damaged("no head of a payload")
    slots, grain, base = struct.unpack_from("<IIQ", payload)
    lengths = struct.unpack_from("<7I", payload, 16)
    coding = struct.unpack_from("<I", payload, 44)[0]
    if not grain or sum(lengths) != len(payload) - 48 or slots > 4096:
        raise Damaged("the head of a payload")
    columns, at = [], 48
    for length in lengths:
        columns.append(Bytes(payload[at : at + length]))
        at += length
    return slots, grain, base, coding, columns


def is_timed(kind):
    return kind not in (EXTRA, BLOB, HOLE)


def decode(payload):
    """The slots of a block's decompressed bytes."""
    slots, grain, base, coding, columns = columns_of(payload)
    if coding != 1:
        raise Damaged(f"coding {coding}")
    made = decode_columns(slots, grain, base, columns)
    for column in columns:
        column.end()
    return made


def args_of(tokens, kinds, args):
    last, of_kind, found = 0, collections.Counter(), []
    for token in tokens:
        kind, source = kinds[token >> 3], token >> 1 & 3
        if not is_timed(kind):
            found.append(0)
            continue
        if source == 0:
            arg = last
        elif source == 1:
            arg = 0
        elif source == 2:
            arg = (last + zigzag(args.varint())) & 0xFFFFFFFF
        else:
            arg = of_kind[kind]
        if arg:
            last = of_kind[kind] = arg
        found.append(arg)
    return found


def in_order_of_kinds(tokens, kinds, column):
    """Numbers that stand kind by kind, given back to their slots."""
    order = [
        i
        for number, kind in enumerate(kinds)
        if is_timed(kind)
        for i, token in enumerate(tokens)
        if token >> 3 == number
    ]
    numbers = column.packed(len(order))
    return dict(zip(order, numbers))


def decode_columns(slots, grain, base, columns):
    kind_column, args, values, blobs, gaps, ticks, extras = columns
    kinds, counts = [], []
    for _ in range(kind_column.varint()):
        kinds.append(kind_column.varint())
        counts.append(kind_column.varint())
        if len(kinds) > 4096:
            raise Damaged("more kinds than slots")
    tokens = [kind_column.varint() for _ in range(slots)]
    if any(token >> 3 >= len(kinds) for token in tokens):
        raise Damaged("a token without a kind")
    if [sum(t >> 3 == n for t in tokens) for n in range(len(kinds))] != counts:
        raise Damaged("the counts of kinds")
    arg = args_of(tokens, kinds, args)
    gap = in_order_of_kinds(tokens, kinds, gaps)
    duration = in_order_of_kinds(tokens, kinds, ticks)
    places = [i for i, token in enumerate(tokens) if kinds[token >> 3] == EXTRA]
    words = [extras.packed(len(places)) for _ in range(3)]
    extra = {place: [run[n] for run in words] for n, place in enumerate(places)}
    value, end, made = collections.Counter(), base, []
    for i, token in enumerate(tokens):
        kind = kinds[token >> 3]
        if kind == EXTRA:
            a, b, c = (word & MASK for word in extra[i])
            made.append(Slot(a, b, signed(c), kind, 0, b""))
        elif kind == BLOB:
            made.append(Slot(0, 0, 0, kind, 0, blobs.take(blobs.byte())))
        elif kind == HOLE:
            made.append(NOTHING)
        else:
            if token & 1:
                value[kind] = signed(zigzag(values.varint()) & MASK)
            start = (end + gap[i] * grain) & MASK
            end = start + (duration[i] * grain & MASK)
            made.append(Slot(start, duration[i] * grain & MASK, value[kind], kind, arg[i], b""))
    return made


class Host:
    """The clock of a host: ns of CLOCK_REALTIME for ticks."""

    def __init__(self):
        self.points, self.estimate, self.is_counter = [], 0, True

    def rate(self):
        """ns a tick"""
        if not self.is_counter:
            return fractions.Fraction(1)
        estimate = fractions.Fraction(10**9, self.estimate) if self.estimate else None
        first, last = min(self.points), max(self.points)
        if last.monotonic - first.monotonic >= 10**7 and last.ticks > first.ticks:
            fitted = fractions.Fraction(last.monotonic - first.monotonic, last.ticks - first.ticks)
            if estimate is None or abs(fitted - estimate) < estimate / 20:
                return fitted
        return estimate or fractions.Fraction(1)

    def begin(self):
        return min(self.points)


class Stream:
    """A thread's slots by their numbers, from all files that hold some."""

    def __init__(self):
        self.pid = self.tid = None
        self.host, self.image_start, self.flags, self.estimate = b"", None, IS_COUNTER, 0
        self.blocks, self.windows, self.points = [], [], []

    def learn(self, data, at):
        ticks, monotonic, realtime = struct.unpack_from("<3Q", data, at)
        if ticks:
            self.points.append(Point(monotonic, ticks, realtime))

    def definitions(self):
        """(what, id, bytes) of those that are whole."""
        left, begun, last = 0, None, -2
        slots = self.slots()
        for number in sorted(slots):
            slot = slots[number]
            if slot.kind == BLOB and begun and number == last + 1 and len(slot.blob) <= left:
                begun[2].extend(slot.blob)
                left -= len(slot.blob)
            elif DEFINE <= slot.kind < EXTRA and 0 <= slot.value <= 4352:
                begun, left = (slot.kind - DEFINE, slot.arg, bytearray()), slot.value
            else:
                begun = None
            last = number
            if begun and not left:
                yield begun[0], begun[1], bytes(begun[2])
                begun = None

    def slots(self):
        found, end = {}, 0
        for first, slots in sorted(self.blocks, key=lambda block: block[0]):
            for number, slot in enumerate(slots, first):
                if number >= end:
                    found[number] = slot
            end = max(end, first + len(slots))
        for window in self.windows:
            for number, slot in window(end):
                found.setdefault(number, slot)
        return found


def frame_at(data, at):
    """(magic, bytes) of the frame that begins there, or None."""
    if at + 8 > len(data):
        return None
    magic, size = struct.unpack_from("<II", data, at)
    tag = TAGS.get(magic)
    if not 0x184D2A50 <= magic <= 0x184D2A5F:
        return None
    if tag and bytes(data[at + 8 : at + 8 + len(tag)]) != tag:
        return None
    ends = {HEADER: (264, 512), BLOCK: (144, 152), WINDOW: (72, 256), CALL: (504, 512)}
    if magic in ends:
        hashed, least = ends[magic]
        if at + least > len(data):
            return None
        if struct.unpack_from("<Q", data, at + hashed)[0] != hash_of(data[at : at + hashed]):
            return None
        version = struct.unpack_from("<H", data, at + (16 if magic in (HEADER, CALL) else 12))[0]
        if version != 2:
            return None
    return magic, 8 + size


class Trace:
    def __init__(self):
        self.streams = collections.defaultdict(Stream)

    def add(self, data):
        at, free_at = 0, None
        while at < len(data):
            frame = frame_at(data, at)
            if frame is None or (frame[0] == FREE and at + frame[1] > len(data)):
                at = self.next_frame(data, at + 1 if free_at is None else free_at + 8)
                free_at = None
                continue
            free_at = at if frame[0] == FREE else None
            at = self.take(data, at, *frame)

    def next_frame(self, data, at):
        while at < len(data):
            places = [data.find(struct.pack("<I", m), at) for m in (HEADER, BLOCK, WINDOW)]
            places = [place for place in places if place >= 0]
            if not places:
                return len(data)
            at = min(places)
            if frame_at(data, at):
                return at
            at += 1
        return at

    def take(self, data, at, magic, size):
        if magic == HEADER:
            stream = self.streams[struct.unpack_from("<Q", data, at + 24)[0]]
            stream.flags = struct.unpack_from("<I", data, at + 20)[0]
            stream.pid, stream.tid = struct.unpack_from("<II", data, at + 48)
            stream.image_start = struct.unpack_from("<Q", data, at + 64)[0]
            stream.estimate = max(stream.estimate, struct.unpack_from("<Q", data, at + 104)[0])
            stream.host = bytes(data[at + 120 : at + 183]).split(b"\0")[0]
            stream.learn(data, at + 80)
        elif magic == BLOCK:
            return self.take_block(data, at, at + size)
        elif magic == WINDOW:
            self.take_window(data, at)
        return at + size

    def take_block(self, data, at, begin):
        stream = self.streams[struct.unpack_from("<Q", data, at + 16)[0]]
        if stream.pid is None:
            stream.pid, stream.tid = struct.unpack_from("<II", data, at + 24)
        stream.host = stream.host or bytes(data[at + 32 : at + 63]).split(b"\0")[0]
        stream.learn(data, at + 96)
        first, slots = struct.unpack_from("<QI", data, at + 64)
        plain, packed, check = struct.unpack_from("<IIQ", data, at + 128)
        body = bytes(data[begin : begin + packed])
        if len(body) < packed or hash_of(body) != check or plain > 262144:
            return begin + packed
        out = ctypes.create_string_buffer(plain)
        if zstd.ZSTD_decompress(out, plain, body, packed) == plain:
            try:
                made = decode(out.raw)
                if len(made) == slots:
                    stream.blocks.append((first, made))
            except Damaged:
                pass
        return begin + packed

    def take_window(self, data, at):
        stream = self.streams[struct.unpack_from("<Q", data, at + 16)[0]]
        if stream.pid is None:
            stream.pid, stream.tid = struct.unpack_from("<II", data, at + 24)
        stream.learn(data, at + 48)
        capacity = struct.unpack_from("<I", data, at + 32)[0]
        first = struct.unpack_from("<Q", data, at + 40)[0]
        raw = bytes(data[at + 256 : at + 256 + 32 * capacity])
        stream.windows.append(lambda end: window_slots(raw, capacity, max(first, end)))

    def read(self, path):
        names = [path]
        if os.path.isdir(path):
            names = sorted(os.path.join(path, name) for name in os.listdir(path))
            names = [n for n in names if n.endswith(".zst") and os.path.basename(n)[0] != "."]
        for name in names:
            with open(name, "rb") as file:
                self.add(file.read())
        return self

    def hosts(self):
        """The clocks by the names of hosts, cut as blocks cut them."""
        hosts = collections.defaultdict(Host)
        for stream in self.streams.values():
            host = hosts[stream.host[:31]]
            host.points += stream.points
            host.estimate = max(host.estimate, stream.estimate)
            if stream.image_start is not None:
                host.is_counter = bool(stream.flags & IS_COUNTER)
        return hosts

    def image_of(self, stream):
        """A stream without a header is of the only image that is known with its pid."""
        key = stream.host[:31], stream.pid
        starts = {s.image_start for s in self.streams.values() if (s.host[:31], s.pid) == key}
        starts.discard(None)
        start = stream.image_start
        return key + (starts.pop() if start is None and len(starts) == 1 else start,)

    def definitions(self, what):
        """{(process image, id): bytes}"""
        found = {}
        for stream in self.streams.values():
            if not stream.flags & IS_SAMPLER:
                image = self.image_of(stream)
                found.update(((image, i), text) for w, i, text in stream.definitions() if w == what)
        return found

    def events(self):
        """The events of a stream follow each other in their order."""
        for stream in self.streams.values():
            if stream.flags & IS_SAMPLER:
                continue
            slots = stream.slots()
            for number in sorted(slots):
                s = slots[number]
                if 0 < s.kind < 1024:
                    after = slots.get(number + 1, NOTHING)
                    extra = (after.start, after.ticks, after.value) if after.kind == EXTRA else None
                    yield Event(stream, number, s.kind, s.value, s.arg, s.start, s.ticks, extra)


def window_slots(raw, capacity, least):
    """(number, slot) of the valid slots whose number is not below `least`."""
    for position in range(len(raw) // 32):
        start, ticks, value, commit = struct.unpack_from("<QQQQ", raw, 32 * position)
        folded = start ^ ticks ^ value ^ commit
        check = 0
        for shift in range(0, 64, 8):
            check ^= folded >> shift & 255
        if not commit & 0xFFFF or check:
            continue
        generation = commit >> 16 & 255
        turn = least // capacity + (generation - least // capacity + 128) % 256 - 128
        number = turn * capacity + position
        if number >= least:
            blob = b""
            if commit & 0xFFFF == BLOB:
                blob = raw[32 * position : 32 * position + min(commit >> 32, 24)]
            yield number, Slot(start, ticks, signed(value), commit & 0xFFFF, commit >> 32, blob)
