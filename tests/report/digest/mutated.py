# SPDX-License-Identifier: Apache-2.0
"""Digests whose hashes are right and whose content is not: mutated.py COUNT [FIRST], or
mutated.py --seeds FOLDER for the corpus of tests/fuzz/fuzz_digest.c.

A case changes the fields of one record, mends its hash, and asks for a view or a merge. It fails if
the report dies by a signal, takes more than MEMORY_MIB, or says something in JSON that is no JSON.
"""

import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

import jobs

sys.path.insert(0, os.path.join(jobs.ROOT, "tests", "report", "second_reader"))
import ctypes

import reader

MEMORY_MIB, SECONDS_MOST = 256, 20
HEAD, RECORD = 24, 104
VIEWS = ("summary", "steps", "epochs", "threads", "files", "line", "info")  # beside those of jobs
ODD = (0, 1, 2, 127, 128, 255, 0x7F, 0x80, 0xFF)
WORDS = (0, 1, 1 << 31, (1 << 32) - 1, 1 << 56, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


def records_of(data):
    """[key, plain bytes] of each record."""
    records, at = [], HEAD
    while True:
        stored, plain = struct.unpack_from("<II", data, at)
        if not stored:
            return records
        body = data[at + RECORD : at + RECORD + stored]
        if stored != plain:
            out = ctypes.create_string_buffer(plain)
            if reader.zstd.ZSTD_decompress(out, plain, bytes(body), stored) != plain:
                raise AssertionError("a digest holds no zstd frame")
            body = out.raw
        records.append([bytearray(data[at + 16 : at + RECORD]), bytearray(body)])
        at += RECORD + stored


def record_made(key, body):
    seed = reader.xxhash.XXH64(bytes(key), len(key), 0)
    found = reader.xxhash.XXH64(bytes(body), len(body), seed)
    return struct.pack("<IIQ", len(body), len(body), found) + key + body


def file_made(head, records):
    data = head + b"".join(record_made(key, body) for key, body in records)
    end = bytearray(RECORD - 16)
    struct.pack_into("<Q", end, 80, len(records))
    return data + record_made(end, b"")


def change(chance, record):
    key, body = record
    for _ in range(chance.randrange(1, 6)):
        way = chance.randrange(7)
        at = chance.randrange(len(body))
        if way == 0:
            body[at] = chance.choice(ODD)
        elif way == 1:
            body[at] ^= 1 << chance.randrange(8)
        elif way == 2:
            at = min(at, len(body) - 8)
            struct.pack_into("<Q", body, at, chance.choice(WORDS))
        elif way == 3:
            body[at:at] = bytes(chance.choice(ODD) for _ in range(chance.randrange(1, 12)))
        elif way == 4 and len(body) > 200:
            del body[at : at + chance.randrange(1, 12)]
        elif way == 5:
            struct.pack_into("<I", key, 76, chance.choice((1, 2, 3, 1000)))
        else:
            at = min(at, 300)  # where the fields are denser
            body[at] = chance.getrandbits(8)


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MOST, SECONDS_MOST))


def complaint(arguments):
    done = subprocess.run(
        [jobs.REPORT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limits,
    )
    if done.returncode not in (0, 1):
        return f"status {done.returncode}: {done.stderr[-300:]}"
    if b"\x1b" in done.stdout + done.stderr:
        return "an escape character"
    if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 > MEMORY_MIB:
        return "more memory than it may take"
    if "--format=json" in arguments and done.stdout:
        try:
            json.loads(done.stdout)
        except ValueError as error:
            return f"no JSON: {error}"
    return None


def case(number, head, records, other, path, out):
    chance = random.Random(number)
    mine = [[bytearray(key), bytearray(body)] for key, body in records]
    for _ in range(chance.randrange(1, 4)):
        change(chance, chance.choice(mine))
    with open(path, "wb") as file:
        file.write(file_made(head, mine))
    if chance.random() < 0.2:
        return complaint(["digest", path, other, "-o", out, "--force"])
    view = chance.choice(jobs.VIEWS + VIEWS)
    inputs = [path] if chance.random() < 0.5 else [path, other]
    return complaint([view, chance.choice(("--format=json", "--format=table")), *inputs])


def write_seeds(to):
    """Small digests whose records are not compressed, so that a fuzzer meets their fields."""
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            "ranks": jobs.made(os.path.join(folder, "job"), 3, 12, "rank,1,2,forward,2000000"),
            "run": [os.path.join(jobs.ROOT, "tests/report/golden/v2/run.zst")],
            "steps": [os.path.join(jobs.ROOT, "tests/report/golden/v2/gpu.zst")],
        }
        for name, inputs in runs.items():
            path = os.path.join(folder, "seed.spd")
            jobs.digest(path, *inputs)
            data = jobs.bytes_of(path)
            with open(os.path.join(to, name), "wb") as file:
                file.write(file_made(data[:HEAD], records_of(data)))
            os.unlink(path)


def main():
    if sys.argv[1] == "--seeds":
        write_seeds(sys.argv[2])
        return 0
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        runs = jobs.made(os.path.join(folder, "job"), 16, 150, jobs.STRAGGLER)
        runs.append(os.path.join(jobs.ROOT, "tests/report/golden/v2/run.zst"))
        path, whole, out = (os.path.join(folder, n) for n in ("case.spd", "whole.spd", "out.spd"))
        jobs.digest(whole, *runs)
        data = jobs.bytes_of(whole)
        records = records_of(data)
        with open(path, "wb") as file:
            file.write(file_made(data[:HEAD], records))
        told, said = jobs.report("ranks", path)
        assert not said and told == jobs.report("ranks", whole)[0], said  # the maker is right
        for number in range(first, first + count):
            error = case(number, data[:HEAD], records, whole, path, out)
            if error:
                kept = os.path.join(os.getcwd(), f"failed-{number}.spd")
                os.replace(path, kept)
                print(f"case {number}: {error}; kept: {kept}")
                failed += 1
    print(f"{count} cases, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
