# SPDX-License-Identifier: Apache-2.0
"""Runs that leave no trace say why: real programs that a preload does not reach, and settings."""

import os
import shutil
import subprocess
import unittest

import scene
from scene import PYTHON, clean_environment

HELLO = '#include <stdio.h>\nint main(void) { FILE *f = fopen("/etc/hostname", "r"); return !f; }\n'


def can_run(path):
    try:
        return subprocess.run([path]).returncode == 0
    except OSError:
        return False


class Unreached(scene.Case):
    """The program runs as it would, records nothing, and one line says why."""

    def explained(self, why, *argv, status=0, options=(), **more):
        done = self.run_under(*argv, options=options, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("stageprof: nothing")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], why + r".*; .*\[SP110\]$")
        self.assertEqual([n for n in os.listdir(self.folder) if n.endswith(".zst")], [])

    def test_output_that_is_a_device(self):
        shell = ["sh", "-c", f"exec {PYTHON} -c 'open(\"/etc/passwd\").read()'"]
        self.explained("directory cannot be created", *shell, options=["-o", "/dev/null"])

    def test_static(self):
        self.explained("statically linked", scene.compiled(self.folder, "hello", HELLO, "-static"))

    def test_static_pie(self):
        self.explained(
            "statically linked", scene.compiled(self.folder, "hello", HELLO, "-static-pie")
        )

    def test_busybox(self):
        busybox = shutil.which("busybox")
        if not busybox:
            raise unittest.SkipTest("no busybox")
        self.explained("statically linked|only passes", busybox, "true")

    def test_musl(self):
        program = scene.compiled(self.folder, "hello", HELLO, compiler="musl-gcc")
        done = subprocess.run(["readelf", "-l", program], stdout=subprocess.PIPE, check=True)
        self.assertIn(b"ld-musl", done.stdout)
        # musl's loader takes the library for its own, which says so once and leaves all else alone
        env = clean_environment(LD_PRELOAD=scene.LIBRARY)
        hand = self.call(program, env=env)
        self.assertEqual(hand.returncode, 0)
        self.assertRegex(hand.stderr, r"\Astageprof: another libc .* is recorded of hello; .*\n\Z")
        shell = self.call("bash", "-c", f"{program}; {program}", env=env)
        self.assertEqual((shell.returncode, shell.stderr), (0, ""))
        self.explained("another libc", program)

    def test_i386(self):
        program = scene.compiled(self.folder, "hello", HELLO, "-m32")
        if not can_run(program):
            raise unittest.SkipTest("the kernel runs no 32-bit programs")
        self.explained("32-bit", program)

    def test_setuid(self):
        if os.getuid() != 0:
            raise unittest.SkipTest("setuid takes root to make")
        program = scene.compiled(self.folder, "hello", HELLO)
        os.chmod(self.folder, 0o755)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        auxv = "int printf(const char *, ...);\nunsigned long getauxval(unsigned long);\n"
        secure = scene.compiled(
            self.folder, "secure", auxv + "int main(void) { return !getauxval(23); }\n"
        )
        os.chown(secure, 65534, 65534)
        os.chmod(secure, 0o4755)
        if not can_run(secure):
            raise unittest.SkipTest("this file system honours no setuid bit")
        self.explained("setuid", program)

    def test_capabilities(self):
        setcap = shutil.which("setcap") or "/sbin/setcap"
        if os.getuid() != 0 or not os.path.exists(setcap):
            raise unittest.SkipTest("no setcap, or not root")
        program = scene.compiled(self.folder, "hello", HELLO)
        os.chmod(self.folder, 0o777)
        if subprocess.run([setcap, "cap_net_raw+ep", program]).returncode != 0:
            raise unittest.SkipTest("no file capabilities here")
        self.explained("capabilities", program, user=65534, group=65534)

    def test_shell_alone(self):
        self.explained("is a tool that is not recorded itself", "sh", "-c", "exit 5", status=5)

    def test_disabled(self):
        self.explained("STAGEPROF_ENABLE is 0", PYTHON, "-c", "pass", options=["--enable=0"])

    def test_other_rank(self):
        env = clean_environment(RANK="1")
        self.explained("rank", PYTHON, "-c", "pass", options=["--ranks=0"], env=env)

    def test_no_such_folder(self):
        self.explained("cannot be created", PYTHON, "-c", "pass", options=["-o", "no/such/run.zst"])

    def test_script(self):
        """The interpreter counts, not the script."""
        program = scene.compiled(self.folder, "hello", HELLO, "-static")
        script = os.path.join(self.folder, "script")
        with open(script, "w") as file:
            file.write(f"#!{program}\n")
        os.chmod(script, 0o755)
        self.explained("hello: it is statically linked", script)


if __name__ == "__main__":
    scene.main()
