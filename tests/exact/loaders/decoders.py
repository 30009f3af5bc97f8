# SPDX-License-Identifier: Apache-2.0
"""decoders.py PROGRAM: what tests/exact/loaders/decoders.c counted is what the report says.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT.
"""

import json
import os
import subprocess
import sys
import tempfile


def main():
    with tempfile.TemporaryDirectory(prefix="stageprof-decoders-") as folder:
        run = os.path.join(folder, "run.zst")
        env = dict(os.environ, LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"], STAGEPROF_OUTPUT=run)
        done = subprocess.run(
            [sys.argv[1]], cwd=folder, env=env, stdout=subprocess.PIPE, check=True, timeout=60
        )
        own = json.loads(done.stdout)
        answer = subprocess.run(
            [os.environ["STAGEPROF_TEST_REPORT"], "stages", "--format=json", run],
            stdout=subprocess.PIPE,
            check=True,
            timeout=60,
        )
    stages = {stage["stage"]: stage for stage in json.loads(answer.stdout)["stages"]}
    assert stages["decompress"]["bytes"] == own.pop("decompress_bytes"), stages["decompress"]
    for name, (calls, aborted) in own.items():
        stage = stages.get(name, {"calls": 0, "aborted": 0})
        assert [stage["calls"], stage["aborted"]] == [calls, aborted], (name, calls, aborted, stage)
    print(own)


if __name__ == "__main__":
    main()
