# SPDX-License-Identifier: Apache-2.0
"""Digests of damaged runs answer as the runs do, and lack as many events: damaged.py COUNT [FIRST].
The runs are the cases of the report's fuzzer. Damaged files are named by the run alone."""

import json
import os
import subprocess
import sys
import tempfile

import jobs

sys.path.insert(0, os.path.join(jobs.ROOT, "tests", "report", "fuzz"))
import whole_report

VIEWS = jobs.VIEWS + ("threads",)



def said(view, path):
    command = [jobs.REPORT, view, "--format=json", path]
    done = subprocess.run(command, capture_output=True, timeout=60)
    answer = json.loads(done.stdout) if done.stdout else {"run": {"hosts": []}}
    answer["run"].pop("damage", None)
    for call in answer.get("in_flight", ()):
        call.pop("file")  # read from the living process
    return done.returncode, answer


def complaint(number, folder):
    run, path = os.path.join(folder, f"{number}.zst"), os.path.join(folder, f"{number}.spd")
    whole_report.Case(number).make(run)
    subprocess.run([jobs.REPORT, "digest", run, "-o", path], capture_output=True, timeout=60)
    if not os.path.exists(path):
        return None
    view = VIEWS[number % len(VIEWS)]
    of_run, of_digest = said(view, run), said(view, path)
    hosts = of_run[1]["run"]["hosts"]
    # two hosts of one name are one in a digest
    if of_run == of_digest or len(hosts) > len(set(hosts)):
        return None
    return f"{view}: {of_run} of the run, {of_digest} of its digest"


def main():
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            error = complaint(number, folder)
            if error:
                print(f"case {number}: {error[:3000]}")
                failed += 1
    print(f"{count} cases, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
