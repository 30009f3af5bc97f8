# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the whole report: traces whose parts are well-formed and whose content is not.

    whole_report.py cases FIRST COUNT     cases by their numbers: the same each time
    whole_report.py seconds FIRST N       cases from FIRST on, for N seconds
    whole_report.py chosen LIST           the cases whose numbers the file lists
    whole_report.py choose FIRST COUNT    prints the numbers of those cases that together reach all
                                          code that the cases reach

Each case takes the frames of golden runs apart, changes some (fields, payloads, slots, their
order), mends the checksums, and asks for one view, format or export. A case fails if the report
dies by a signal, takes more than MEMORY_MIB or SECONDS_MOST of processor time, prints an escape
character, or says something in JSON that is no JSON. A case that fails prints the command
that repeats it, and keeps its run.

`choose` wants a report that clang built with -fsanitize=undefined
-fsanitize-coverage=trace-pc-guard. Each next case is the one that reaches the most places which the
cases before did not.
"""

import glob
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "report", "second_reader"))
import ctypes

import reader

MEMORY_MIB, SECONDS_MOST = 256, 20
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
HASHES = {reader.HEADER: 264, reader.BLOCK: 144, reader.WINDOW: 72}
ODD = (0, 1, 2, 7, 8, 63, 64, 255, 256, 4095, 4096, 4097, 65535, 65536, (1 << 20) - 1, 1 << 24)
ODD += (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
TEXTS = (b"\x1b[31m", b"</script>", b"=cmd()", b"\xff\xfe", b"a\nb", b"\xe2\x80\xae", b"%s%n", b"")


def table(path, macro):
    with open(os.path.join(ROOT, path)) as file:
        return re.findall(r"^" + macro + r"\((\w+)", file.read(), re.M)


VIEWS = [v for v in table("analyzer/views/views.def", "SP_VIEW(?:_BY)?") if v != "compare"]
EXPORTS = table("analyzer/exporters/exporters.def", "SP_EXPORTER")
KINDS = [int(number) for number in table("trace/events.def", "SP_EVENT")]


def compress(data):
    zstd = reader.zstd
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compress.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_int,
    ]
    room = len(data) + len(data) // 8 + 512
    out = ctypes.create_string_buffer(room)
    return out.raw[: zstd.ZSTD_compress(out, room, bytes(data), len(data), 1)]


def frames_of(data):
    """[head of the frame, what follows it of the same piece]"""
    frames, at = [], 0
    while at < len(data):
        found = reader.frame_at(data, at)
        if not found:
            break
        magic, size = found
        body = bytearray(data[at : at + size])
        tail = b""
        if magic == reader.BLOCK:
            packed = struct.unpack_from("<I", body, 132)[0]
            tail = data[at + size : at + size + packed]
        frames.append([body, tail])
        at += size + len(tail)
    return frames


def magic_of(frame):
    return struct.unpack_from("<I", frame[0])[0] if len(frame[0]) >= 8 else 0


def mend(frame):
    hashed = HASHES.get(magic_of(frame))
    if hashed and len(frame[0]) >= hashed + 8:
        struct.pack_into("<Q", frame[0], hashed, reader.hash_of(frame[0][:hashed]))


def checked(word):
    """A slot's commit with the check that fits its words."""
    folded = word[0] ^ word[1] ^ word[2] ^ (word[3] & ~0xFF000000)
    check = 0
    for shift in range(0, 64, 8):
        check ^= folded >> shift & 255
    return word[3] & ~0xFF000000 | check << 24


class Case:
    def __init__(self, number):
        self.number = number
        self.random = random.Random(number)

    def odd(self, bits):
        way = self.random.randrange(3)
        if way == 0:
            return self.random.choice(ODD) & ((1 << bits) - 1)
        if way == 1:
            return self.random.getrandbits(bits)
        return self.random.randrange(min(300, 1 << bits))

    def change_field(self, frame):
        body = frame[0]
        width, code = self.random.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q")))
        least = 12 if magic_of(frame) in HASHES else 8
        if len(body) <= least + width:
            return
        # most fields lie in the first 160 bytes
        most = len(body) - width
        at = self.random.randrange(least, min(most, 160) if self.random.random() < 0.7 else most)
        struct.pack_into("<" + code, body, at // width * width, self.odd(8 * width))
        if self.random.random() < 0.2:
            text = self.random.choice(TEXTS)
            body[at : at + len(text)] = text[: len(body) - at]
        mend(frame)

    def change_payload(self, frame):
        if magic_of(frame) != reader.BLOCK or len(frame[0]) < 152:
            return
        plain = struct.unpack_from("<I", frame[0], 128)[0]
        out = ctypes.create_string_buffer(max(plain, 1))
        if plain > 1 << 20 or reader.zstd.ZSTD_decompress(
            out, plain, bytes(frame[1]), len(frame[1])
        ) != plain:
            return
        payload = bytearray(out.raw[:plain])
        for _ in range(self.random.randrange(1, 5)):
            if not payload:
                break
            at = self.random.randrange(len(payload))
            way = self.random.randrange(4)
            if way == 0 and len(payload) > 48:
                struct.pack_into("<I", payload, self.random.randrange(12) * 4, self.odd(32))
            elif way == 1:
                text = self.random.choice(TEXTS)
                payload[at : at + len(text)] = text[: len(payload) - at]
            elif way == 2:
                payload[at] ^= 1 << self.random.randrange(8)
            else:
                payload[at] = self.odd(8)
        frame[1] = compress(payload)
        sizes = len(payload), len(frame[1])
        struct.pack_into("<IIQ", frame[0], 128, *sizes, reader.hash_of(frame[1]))
        mend(frame)

    def slot(self, generation):
        way = self.random.random()
        if way < 0.75:
            kind = self.random.choice(KINDS)
        elif way < 0.9:
            kind = 0xFF00 + self.random.randrange(17)
        else:
            kind = self.random.choice((0xFFF0, 0xFFF1, 0, 999, 1023, 1024))
        arg = self.odd(32) if self.random.random() < 0.3 else self.random.randrange(40)
        if self.random.random() < 0.3:
            arg |= self.random.randrange(16) << 28
        start = self.random.getrandbits(24) if self.random.random() < 0.9 else self.odd(64)
        ticks = self.odd(64) if self.random.random() < 0.2 else self.odd(16)
        word = [start, ticks, self.odd(64), 0]
        word[3] = kind | generation << 16 | arg << 32
        word[3] = checked(word)
        return struct.pack("<QQQQ", *word)

    def add_window(self, frames):
        """A window of senseless slots ends the file."""
        frame = next((f for f in frames if magic_of(f) == reader.HEADER), None)
        if not frame:
            return
        ends = [
            struct.unpack_from("<QI", f[0], 64) for f in frames if magic_of(f) == reader.BLOCK
        ]
        first = max([a + n for a, n in ends], default=0)
        capacity = self.random.choice((64, 256, 1024))
        body = bytearray(256 + 32 * capacity)
        struct.pack_into("<II", body, 0, reader.WINDOW, len(body) - 8)
        body[8:12] = b"SPWN"
        body[12:16] = struct.pack("<HH", 2, 256)
        body[16:24] = frame[0][24:32]
        body[24:32] = frame[0][48:56]
        struct.pack_into("<IIQ", body, 32, capacity, 0, first)
        for i in range(self.random.randrange(capacity)):
            number = first + i
            at = 256 + 32 * (number % capacity)
            body[at : at + 32] = self.slot(number // capacity & 255)
        made = [body, b""]
        mend(made)
        frames[:] = [f for f in frames if magic_of(f) != reader.WINDOW] + [made]

    def reorder(self, frames, others):
        way = self.random.randrange(4)
        at = self.random.randrange(len(frames))
        if way == 0:
            frames.insert(at, [bytearray(frames[at][0]), frames[at][1]])
        elif way == 1 and len(frames) > 1:
            frames.pop(at)
        elif way == 2:
            other = self.random.choice(others)
            if other:
                frames.insert(at, self.random.choice(other))
        else:
            self.random.shuffle(frames)

    def change(self, files):
        frames = self.random.choice(files)
        if not frames:
            return
        way = self.random.random()
        if way < 0.35:
            self.change_field(self.random.choice(frames))
        elif way < 0.6:
            self.change_payload(self.random.choice(frames))
        elif way < 0.85:
            self.add_window(frames)
        else:
            self.reorder(frames, files)

    def make(self, target):
        """The run of this case."""
        sources = sorted(glob.glob(os.path.join(ROOT, "tests/report/golden/v*/*.zst")))
        names, files = [], []
        for path in sorted(glob.glob(os.path.join(self.random.choice(sources), "*.zst"))):
            with open(path, "rb") as file:
                names.append(os.path.basename(path))
                files.append(frames_of(file.read()))
        for _ in range(self.random.randrange(1, 8)):
            self.change(files)
        os.makedirs(target)
        for name, frames in zip(names, files):
            data = b"".join(bytes(body) + bytes(tail) for body, tail in frames)
            if self.random.random() < 0.05:
                data = data[: self.random.randrange(len(data) + 1)]
            with open(os.path.join(target, name), "wb") as file:
                file.write(data)

    def command(self, run, out):
        jobs = ["--jobs=2"]
        if self.random.random() < 0.15:
            name = self.random.choice(EXPORTS)
            if name == "parquet":  # a folder, which is never replaced
                out += "-tables"
                shutil.rmtree(out, ignore_errors=True)
            return ["export", name, run, "-o", out, "--force"] + jobs
        view = self.random.choice(VIEWS)
        if view == "html":
            return [view, run, "-o", out, "--force"] + jobs
        options = ["--format=" + self.random.choice(("json", "json", "table", "csv", "md"))]
        if self.random.random() < 0.3:
            options.append(
                self.random.choice(("--limit=all", "--process=100", "--lang=zh_CN"))
            )
        return [view, run] + options + jobs


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MOST, SECONDS_MOST))


def complaint(case, command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(
        [REPORT] + command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limits,
        cwd=folder,
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if done.returncode not in (0, 1):
        return f"status {done.returncode}: {done.stderr[-500:]}"
    if peak > MEMORY_MIB and peak * 1024 > before:
        return f"{peak:.0f} MiB"
    if b"\x1b" in done.stdout or b"\x1b" in done.stderr:
        return "an escape character"
    if "--format=json" in command and done.stdout:
        try:
            json.loads(done.stdout)
        except ValueError as error:
            return f"no JSON: {error}"
    return None


def one(number, folder):
    case = Case(number)
    run = os.path.join(folder, f"{number}.zst")
    case.make(run)
    command = case.command(run, os.path.join(folder, "out"))
    said = complaint(case, command, folder)
    if said:
        kept = os.path.join(os.getcwd(), f"failed-{number}.zst")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(run, kept)
        print(f"case {number}: {said}\n    stageprof-report {' '.join(command)}\n    kept: {kept}")
    shutil.rmtree(run)
    return not said


def places_of(number, folder):
    """The addresses of the code that a case reaches."""
    places = os.path.join(folder, "places")
    shutil.rmtree(places, ignore_errors=True)
    os.makedirs(places)
    os.environ["UBSAN_OPTIONS"] = f"coverage=1:coverage_dir={places}"
    one(number, folder)
    found = set()
    for path in glob.glob(os.path.join(places, "*.sancov")):
        with open(path, "rb") as file:
            file.seek(8)  # past the magic
            data = file.read()
        found.update(struct.unpack(f"<{len(data) // 8}Q", data))
    return found


def choose(first, count, folder):
    reached, reaching = set(), {}
    for number in range(first, first + count):
        places = places_of(number, folder)
        if places - reached:
            reached |= places
            reaching[number] = places
    print(f"{len(reached)} places, new ones in {len(reaching)} cases", file=sys.stderr)
    while reached:
        best = max(sorted(reaching), key=lambda number: len(reaching[number] & reached))
        reached -= reaching.pop(best)
        print(best)


def numbers(way, first, most):
    """The cases to run, and until when."""
    begin, number = time.monotonic(), first
    while number - first < most if way == "cases" else time.monotonic() - begin < most:
        yield number
        number += 1


def main():
    way, begin = sys.argv[1], time.monotonic()
    if way == "chosen":
        with open(sys.argv[2], encoding="ascii") as file:
            cases = [int(word) for line in file for word in line.partition("#")[0].split()]
    else:
        cases = numbers(way, int(sys.argv[2]), int(sys.argv[3]))
    with tempfile.TemporaryDirectory() as folder:
        if way == "choose":
            choose(int(sys.argv[2]), int(sys.argv[3]), folder)
            return False
        results = [one(number, folder) for number in cases]
    failed = results.count(False)
    print(f"{len(results)} cases, {failed} failed, {time.monotonic() - begin:.0f} s")
    return failed > 0 or not results


if __name__ == "__main__":
    sys.exit(main())
