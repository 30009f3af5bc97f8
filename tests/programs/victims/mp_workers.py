# SPDX-License-Identifier: Apache-2.0
"""mp_workers.py METHOD HOW WORKERS READS: multiprocessing workers that end as DataLoader's do.

Each reads a file of its own and keeps count in a file of its own, before and after each read.
"""

import mmap
import multiprocessing
import os
import struct
import sys
import time


def account(number):
    with open(f"count-{number}.bin", "r+b") as file:
        return mmap.mmap(file.fileno(), 16)


def put(count, at, value):
    """Eight bytes in one store: struct.pack_into() makes them 0 first, and a kill may come between.
    """
    count[at : at + 8] = struct.pack("<Q", value)


def work(number, how, reads):
    count = account(number)
    fd = os.open(f"data-{number}.dat", os.O_RDONLY)
    done = 0
    while done < reads or how in ("terminate", "kill"):
        put(count, 0, done + 1)
        os.lseek(fd, 0, os.SEEK_SET)
        os.read(fd, 100)
        done += 1
        put(count, 8, done)
    if how == "_exit":
        os._exit(5)


def done_by(number):
    with open(f"count-{number}.bin", "rb") as file:
        return struct.unpack("<QQ", file.read())[1]


def end(process, number, how, reads):
    while how in ("terminate", "kill") and process.is_alive() and done_by(number) < reads:
        time.sleep(0.002)
    if how == "terminate":
        process.terminate()
    elif how == "kill":
        process.kill()
    process.join()
    return process.exitcode


def main():
    method, how, workers, reads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    context = multiprocessing.get_context(method)
    for number in range(workers):
        with open(f"data-{number}.dat", "wb") as file:
            file.write(bytes(range(256)))
        with open(f"count-{number}.bin", "wb") as file:
            file.write(bytes(16))
    processes = [context.Process(target=work, args=(n, how, reads)) for n in range(workers)]
    for process in processes:
        process.start()
    print("exit codes", [end(p, n, how, reads) for n, p in enumerate(processes)])


if __name__ == "__main__":
    main()
