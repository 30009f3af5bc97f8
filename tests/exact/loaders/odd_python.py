# SPDX-License-Identifier: Apache-2.0
"""Every way in which Python's own library reads, writes and copies files: the record has the
calls that strace sees."""

import asyncio
import concurrent.futures
import gzip
import mmap
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile

SIZE = 300_000


def descriptors(fd, out):
    block = bytearray(1000)
    os.readv(fd, [block, bytearray(500)])
    os.preadv(fd, [block], 100)
    os.copy_file_range(fd, out, 4000)
    os.pwritev(out, [b"x" * 10], 3)
    os.writev(out, [b"1", b"22"])
    os.pwrite(out, b"abc", 100)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
    os.fsync(out)
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as mapped:
        assert len(mapped[1000:2000]) == 1000


def libraries(folder, path):
    for name in ("copy", "copy2"):
        getattr(shutil, name)(path, os.path.join(folder, name))
    packed = os.path.join(folder, "packed.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        out.write(path, "data")
    assert len(zipfile.ZipFile(packed).read("data")) == SIZE
    with gzip.open(os.path.join(folder, "packed.gz"), "wb") as out:
        out.write(b"abc" * 10000)
    assert len(gzip.open(os.path.join(folder, "packed.gz")).read()) == 30000
    with open(os.path.join(folder, "text"), "w") as out:
        out.writelines(f"{i}\n" for i in range(10000))
    assert sum(1 for _ in open(os.path.join(folder, "text"))) == 10000
    with open(path, "rb", buffering=0) as file:
        file.seek(5)
        assert len(file.read(100)) == 100 and len(file.readall()) == SIZE - 105
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"q" * 5000)
        file.seek(0)
        assert len(file.read()) == 5000


def part(argument):
    path, size = argument
    with open(path, "rb") as file:
        return len(file.read(size))


async def many(path):
    await asyncio.gather(*(asyncio.to_thread(part, (path, 1234)) for _ in range(50)))


def threads_and_processes(fd, path):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sum(map(len, pool.map(lambda i: os.pread(fd, 1000, i * 100), range(500)))) == 500_000
    asyncio.run(many(path))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(part, [(path, i * 10) for i in range(50)]) == list(range(0, 500, 10))
    script = "import sys; sys.stdin.buffer.read(); open(sys.argv[1], 'rb').read()"
    with open(path, "rb") as file:
        subprocess.run([sys.executable, "-S", "-c", script, path], stdin=file, check=True)
    child = os.fork()
    if child == 0:
        os.dup2(fd, 0)
        os.read(0, 77)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def numbers(folder):
    """Descriptors that come through a socket, and numbers that come again."""
    ours, theirs = socket.socketpair()
    first = os.open(os.path.join(folder, "copy"), os.O_RDONLY)
    socket.send_fds(ours, [b"x"], [first])
    os.close(first)
    _, (received,), _, _ = socket.recv_fds(theirs, 1, 1)
    assert len(os.read(received, 99)) == 99
    os.close(received)
    place = os.open(folder, os.O_RDONLY)
    text = os.open("text", os.O_RDONLY, dir_fd=place)
    assert len(os.read(text, 11)) == 11
    os.closerange(text, text + 1)
    again = os.open("copy2", os.O_RDONLY, dir_fd=place)
    assert again == text and len(os.read(again, 12)) == 12


def use(folder):
    path = os.path.join(folder, "data")
    with open(path, "wb") as file:
        file.write(os.urandom(SIZE))
    fd, out = os.open(path, os.O_RDONLY), os.open(
        os.path.join(folder, "out"), os.O_RDWR | os.O_CREAT, 0o600
    )
    descriptors(fd, out)
    libraries(folder, path)
    threads_and_processes(fd, path)
    numbers(folder)
