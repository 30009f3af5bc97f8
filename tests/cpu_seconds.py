# SPDX-License-Identifier: Apache-2.0
"""cpu_seconds.py BUILD [CTEST ARGUMENTS]: runs each test by itself, and prints its processor time.

Without arguments for ctest, the tests are those of scripts/test. Lines are CPU seconds, seconds,
exit status and name, and the last one is the sum. A fixture's set-up is in each test that needs it.
"""

import json
import os
import subprocess
import sys
import time


def names(build, options):
    command = ["ctest", "--test-dir", build, "--show-only=json-v1", *options]
    listed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [test["name"] for test in json.loads(listed)["tests"]]


def cost(build, name):
    begin = time.monotonic()
    child = subprocess.Popen(
        ["ctest", "--test-dir", build, "-R", f"^{name}$"], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - begin
    return usage.ru_utime + usage.ru_stime, seconds, os.waitstatus_to_exitcode(status)


def main():
    build, *options = sys.argv[1:]
    total = 0
    for name in names(build, options or ["-LE", "^(nightly|ci)$"]):
        cpu, seconds, status = cost(build, name)
        total += cpu
        print(f"{cpu:8.2f} {seconds:8.2f} {status} {name}", flush=True)
    print(f"{total:8.2f}")


if __name__ == "__main__":
    main()
