# SPDX-License-Identifier: Apache-2.0
"""cold_reads.py VICTIM: reads that waited for the disk, recognised by their time, against the
answers of mincore(2) and the reader's own clock."""

import json
import os
import subprocess
import sys
import tempfile

SURE_SHARE = 0.9  # the others were put off their core between the two clocks


def main():
    # The build folder is on a disk where /tmp may not be.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(sys.argv[1]))) as folder:
        data, run = os.path.join(folder, "data"), os.path.join(folder, "run.zst")
        environment = dict(
            os.environ, LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"], STAGEPROF_OUTPUT=run
        )
        done = subprocess.run(
            [sys.argv[1], data], env=environment, stdout=subprocess.PIPE, text=True
        )
        if done.returncode == 77:
            print(f"skipped: the file system of {folder} keeps pages in memory")
            sys.exit(77)
        done.check_returncode()
        absent, present, slow, sure = map(int, done.stdout.split())
        report = subprocess.run(
            [os.environ["STAGEPROF_TEST_REPORT"], "files", "--format=json", run],
            stdout=subprocess.PIPE,
            check=True,
        )
    row = next(r for r in json.loads(report.stdout)["files"] if r["name"].endswith("/data"))
    print(
        f"absent {absent}, present {present}; slow {row['slow_reads']} of {row['reads']}, on"
        f" {row['file_system']}; {sure} to {slow} for the reader"
    )
    assert row["reads"] == absent + present
    assert row["file_system"] not in (None, "tmpfs"), row
    assert row["maps"] == 1 and row["mapped_bytes"] == 512 * 4096, row
    assert SURE_SHARE * sure <= row["slow_reads"] <= slow, row


main()
