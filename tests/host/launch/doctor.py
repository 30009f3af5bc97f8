# SPDX-License-Identifier: Apache-2.0
"""stageprof doctor: each check says ok where it is, and what is wrong where it was planted."""

import json
import os
import subprocess
import unittest

import scene
from scene import PYTHON, ROOT, STAGEPROF, clean_environment

# A plain program, so that nothing is imported but what a test plants.
HELLO = '#include <stdio.h>\nint main(void) { FILE *f = fopen("/etc/hostname", "r"); return !f; }\n'
MODULE = """
#include <stddef.h>
#include <unistd.h>
/* The least that an extension module is: importing it fails, loading it does not. */
int planted_read(int fd) { char c; return read(fd, &c, 1); }
const char *planted_text(void) { return "%s"; }
"""


class Doctor(scene.Case):
    def examined(self, *command, status=0, env=None, options=(), cwd=None):
        done = self.call(
            STAGEPROF, "doctor", "--format=json", *options, "--", *command, env=env, cwd=cwd
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        told = json.loads(done.stdout)
        self.assertEqual(told["schema_version"], 1)
        return {check["name"]: check for check in told["checks"]}

    def expect(self, checks, name, verdict, text="."):
        found = checks[name]
        self.assertRegex(found["verdict"], f"^({verdict})$", found)
        self.assertRegex(found["text"], text)
        if verdict in ("warn", "fail"):
            self.assertTrue(found["fix"], f"{name} has no fix")

    def shell(self, before, *command):
        """Checks of a doctor that a shell started after a command of its own."""
        script = f"{before}; exec {STAGEPROF} doctor --format=json -- {' '.join(command)}"
        done = self.call("bash", "-c", script)
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


class Well(Doctor):
    def test_python(self):
        checks = self.examined(PYTHON, "train.py")
        for name in (
            "parts",
            "settings",
            "preloads",
            "program",
            "loading",
            "recording",
            "python",
            "deepbind",
        ):
            self.expect(checks, name, "ok")
        self.expect(checks, "recording", "ok", "all 100 reads")
        self.assertEqual(os.listdir(self.folder), [], "doctor left something behind")

    def test_sampling(self):
        checks = self.examined(PYTHON, "train.py")
        self.expect(checks, "sampling", "ok", "functions of CPython 3")

    def test_checks_are_those_of_the_table(self):
        with open(os.path.join(ROOT, "scripts", "launcher", "doctor", "checks.def")) as file:
            names = [
                line.split("(")[1].split(",")[0] for line in file if line.startswith("SP_CHECK(")
            ]
        self.assertEqual(list(self.examined(PYTHON)), names)

    def test_program(self):
        checks = self.examined(scene.compiled(self.folder, "hello", HELLO))
        self.expect(checks, "recording", "ok", "of a child")
        self.expect(checks, "python", "skip")

    def test_script_of_python(self):
        script = os.path.join(self.folder, "tool")
        with open(script, "w") as file:
            file.write(f"#!{PYTHON}\nraise SystemExit('must not run')\n")
        os.chmod(script, 0o755)
        self.expect(self.examined(script), "recording", "ok", "Python child")

    def test_script_alone(self):
        """As `stageprof run train.py`: python3 runs a file that is no program."""
        script = os.path.join(self.folder, "train.py")
        with open(script, "w") as file:
            file.write("import jax\n")
        checks = self.examined(script)
        self.expect(checks, "program", "ok", "python3")
        self.expect(checks, "recording", "ok", "Python child")

    def test_shim_of_python(self):
        shim = os.path.join(self.folder, "python3")
        with open(shim, "w") as file:
            file.write(f'#!/bin/sh\nexec {PYTHON} "$@"\n')
        os.chmod(shim, 0o755)
        self.expect(self.examined(shim), "recording", "ok", "all 100 reads")

    def test_for_people(self):
        done = self.call(STAGEPROF, "doctor", "--", PYTHON)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^ok    recording   all 100 reads")
        self.assertIn("stageprof run -- ", done.stderr)


class Planted(Doctor):
    def test_no_right_to_sample(self):
        done = self.call(
            *(STAGEPROF, "doctor", "--format=json", "--", PYTHON), preexec_fn=scene.refuse_to_read
        )
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        self.expect(checks, "sampling", "warn", "filter of system calls refuses")
        self.assertIn("--cap-add=SYS_PTRACE", checks["sampling"]["fix"])

    def test_no_right_to_sample_by_yama(self):
        """A file system over /proc/sys/kernel says what Yama says where it is built in."""
        script = """mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama || exit 77
            echo 2 > /proc/sys/kernel/yama/ptrace_scope; exec "$@" """
        done = self.call(
            *("unshare", "--mount", "sh", "-c", script, "sh"),
            *(STAGEPROF, "doctor", "--format=json", "--", PYTHON),
            preexec_fn=scene.refuse_to_read,
        )
        if not done.stdout:
            self.skipTest(f"no mount namespace here: {done.stderr}")
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        self.expect(checks, "sampling", "warn", "kernel.yama.ptrace_scope")
        self.assertIn("ptrace_scope=1", checks["sampling"]["fix"])

    def in_ipc_namespace(self, script):
        script += '\nexec "$@"'
        done = self.call(
            *("unshare", "--ipc", "sh", "-c", script, "sh"),
            *(STAGEPROF, "doctor", "--format=json", "--", PYTHON),
        )
        if not done.stdout:
            self.skipTest(f"no IPC namespace here: {done.stderr}")
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    def test_memory_that_goes_with_a_killed_process(self):
        checks = self.in_ipc_namespace("echo 1 > /proc/sys/kernel/shm_rmid_forced || exit")
        self.expect(checks, "memory", "warn", "kernel.shm_rmid_forced")
        self.assertIn("STAGEPROF_MODE=map", checks["memory"]["fix"])

    def test_no_memory(self):
        checks = self.in_ipc_namespace("echo 0 > /proc/sys/kernel/shmmni || exit")
        self.expect(checks, "memory", "warn", "gives none")

    def test_memory_of_a_container(self):
        self.expect(self.in_ipc_namespace(""), "memory", "ok", "until this container ends")

    def test_missing(self):
        self.expect(
            self.examined("no-such-program", status=1), "program", "fail", "no-such-program"
        )

    def test_static(self):
        checks = self.examined(scene.compiled(self.folder, "hello", HELLO, "-static"), status=1)
        self.expect(checks, "program", "fail", "statically linked")
        self.expect(checks, "recording", "skip")

    def test_musl(self):
        program = scene.compiled(self.folder, "hello", HELLO, compiler="musl-gcc")
        self.expect(self.examined(program, status=1), "program", "fail", "another libc")

    def test_i386(self):
        program = scene.compiled(self.folder, "hello", HELLO, "-m32")
        self.expect(self.examined(program, status=1), "program", "fail", "32-bit")

    def test_setuid(self):
        if os.getuid() != 0:
            raise unittest.SkipTest("setuid takes root to make")
        program = scene.compiled(self.folder, "hello", HELLO)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        self.expect(self.examined(program, status=1), "program", "fail", "setuid")

    def test_shell(self):
        self.expect(self.examined("bash", "train.sh"), "program", "warn", "records nothing itself")

    def test_library_of_another_machine(self):
        """The dynamic linker itself is asked, not only the file's head."""
        other = scene.compiled(self.folder, "other.so", "int nothing;\n", "-shared", "-m32")
        checks = self.examined(PYTHON, status=1, options=[f"--library={other}"])
        self.expect(checks, "loading", "fail", "cannot be preloaded|ELF")
        self.expect(checks, "recording", "fail")

    def test_settings(self):
        off = clean_environment(STAGEPROF_ENABLE="0")
        self.expect(
            self.examined(PYTHON, env=off, status=1), "settings", "fail", "STAGEPROF_ENABLE"
        )
        wrong = clean_environment(STAGEPROF_MODE="sun")
        self.expect(
            self.examined(PYTHON, env=wrong, status=1), "settings", "fail", "STAGEPROF_MODE=sun"
        )
        odd = clean_environment(STAGEPROF_OUTPTU="x")
        self.expect(self.examined(PYTHON, env=odd), "settings", "warn", "STAGEPROF_OUTPTU")

    def test_other_preload(self):
        other = scene.compiled(self.folder, "other.so", "int nothing;\n", "-shared", "-fPIC")
        env = clean_environment(LD_PRELOAD=other)
        self.expect(self.examined(PYTHON, env=env), "preloads", "warn", "other.so")

    def test_hidden_and_deepbound(self):
        """A module with libjpeg's texts inside, opened as some packages do."""
        code = MODULE % "Not a JPEG file: starts with 0x%02x 0x%02x"
        scene.compiled(self.folder, "_planted.so", code, "-shared", "-fPIC")
        open_it = "import ctypes, os\nctypes.CDLL(os.path.abspath('_planted.so'), mode=%s)\n"
        for mode, verdict in (("os.RTLD_NOW | os.RTLD_DEEPBIND", "warn"), ("os.RTLD_NOW", "ok")):
            with open(os.path.join(self.folder, "turbojpeg.py"), "w") as file:
                file.write(open_it % mode)
            checks = self.examined(PYTHON)
            self.expect(checks, "hidden", "warn", "libjpeg in _planted.so")
            self.expect(checks, "deepbind", verdict, "_planted.so" if verdict == "warn" else "none")

    def test_frameworks_without_steps(self):
        """Named by the script's imports; what is only installed is no warning."""
        os.mkdir(os.path.join(self.folder, "jax"))
        open(os.path.join(self.folder, "jax", "__init__.py"), "w").close()
        script = os.path.join(self.folder, "train.py")
        for text, verdict in (
            ("def main():\n    from jax.numpy import ones\n", "warn"),
            ("text = 'import jax'\n", "ok"),
            ("import jax from\n", "ok"),
        ):
            with open(script, "w") as file:
                file.write(text)
            self.expect(self.examined(PYTHON, script), "frameworks", verdict, "JAX")

    def test_tensorflow_hides_its_decoder(self):
        code = MODULE % "Not a JPEG file: starts with 0x%02x 0x%02x"
        scene.compiled(self.folder, "libtensorflow_cc.so.2", code, "-shared", "-fPIC")
        for name, text in (
            ("tensorflow.py", "import ctypes, os\nctypes.CDLL(os.path.abspath('%s'))\n"),
            ("train.py", "import tensorflow as tf\n"),
        ):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text.replace("%s", "libtensorflow_cc.so.2"))
        checks = self.examined(PYTHON, os.path.join(self.folder, "train.py"))
        self.expect(checks, "hidden", "warn", "libjpeg in libtensorflow_cc.so.2")
        self.expect(checks, "frameworks", "warn", "TensorFlow")

    def test_symbolic_is_not_deepbound(self):
        scene.compiled(
            self.folder, "_planted.so", MODULE % "", "-shared", "-fPIC", "-Wl,-Bsymbolic"
        )
        with open(os.path.join(self.folder, "turbojpeg.py"), "w") as file:
            file.write("import ctypes, os\nctypes.CDLL(os.path.abspath('_planted.so'))\n")
        self.expect(self.examined(PYTHON), "deepbind", "ok")

    def test_hanging_or_failing_import(self):
        with open(os.path.join(self.folder, "turbojpeg.py"), "w") as file:
            file.write("import os\nos._exit(3)\n")
        checks = self.examined(PYTHON, status=1)
        self.expect(checks, "recording", "fail", "status 3")

    def test_output(self):
        for output, text in (("no/such/run.zst", "No such file"), ("/proc/run.zst", "/proc")):
            checks = self.examined(PYTHON, status=1, env=clean_environment(STAGEPROF_OUTPUT=output))
            self.expect(checks, "output", "fail", text)

    def test_programs_that_change_the_user(self):
        """Named where a script calls them, too; what would keep the new user from recording."""
        private = os.path.join(self.folder, "private")
        os.mkdir(private, 0o700)
        entry = os.path.join(self.folder, "entry.sh")
        with open(entry, "w") as file:
            file.write('#!/bin/sh\n# sudo is not called\nexec /sbin/setpriv --reuid 1 "$@"\n')
        os.chmod(entry, 0o755)
        os.chmod(self.folder, 0o777)
        env = clean_environment(STAGEPROF_OUTPUT=os.path.join(private, "run.zst"))
        self.expect(self.examined(entry, PYTHON, env=env), "user", "warn", "setpriv .*/private")
        with open(entry, "a") as file:
            file.write("sudo python3\n")
        self.expect(self.examined(entry), "user", "ok|warn", "setpriv changes the user")
        with open(entry, "w") as file:
            file.write("#!/bin/sh\nexec sudo -E python3\n")
        self.expect(self.examined(entry), "user", "warn", "sudo changes the user and drops")
        self.expect(self.examined(PYTHON), "user", "ok", "does not change it")

    @unittest.skipIf(os.getuid() != 0, "another user's folder takes root to make")
    def test_run_of_another_user(self):
        os.mkdir(os.path.join(self.folder, "run.zst"))
        os.chown(os.path.join(self.folder, "run.zst"), 65534, 65534)
        self.expect(self.examined(PYTHON), "user", "ok", "of user 65534: .*run-2.zst")

    def test_no_room(self):
        mounted = os.path.join(self.folder, "small")
        os.mkdir(mounted)
        script = (
            f"mount -t tmpfs -o size=1m tmpfs {mounted} && cd {mounted} && "
            f"exec {STAGEPROF} doctor --format=json -- {PYTHON}"
        )
        mapped = [] if os.getuid() == 0 else ["--map-root-user"]
        done = self.call("unshare", "--mount", *mapped, "bash", "-c", script)
        if not done.stdout:
            raise unittest.SkipTest(f"no private mount to be had: {done.stderr.strip()}")
        found = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "output"][0]
        self.assertEqual(found["verdict"], "warn")
        self.assertRegex(found["text"], r"only .* left \(tmpfs\)")

    def test_limits(self):
        self.expect(self.shell("ulimit -f 1000", PYTHON), "limits", "warn", "1024000 bytes")
        self.expect(self.shell("ulimit -n 64", PYTHON), "limits", "warn", "descriptors is 64")

    def test_no_folder_for_the_child(self):
        done = self.call(
            STAGEPROF, "doctor", "--", PYTHON, env=clean_environment(TMPDIR="/no/such/folder")
        )
        self.assertIn("[SP120]", done.stderr)
        self.assertRegex(done.stdout, r"(?m)^skip  recording")

    def test_full_standard_output(self):
        done = self.call("sh", "-c", 'exec "$0" doctor > /dev/full', STAGEPROF)
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not be written completely", done.stderr)

    def test_command_line(self):
        for line, text in ((["--format=xml"], "unknown value xml"), (["--bogus"], "--bogus")):
            done = self.call(STAGEPROF, "doctor", *line)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


class Wheels(Doctor):
    def test_packages_of_the_trainers(self):
        """The interpreter with PyTorch, Pillow and OpenCV: what each is known to hide or show."""
        python = os.path.join(ROOT, "build", "venv", "bin", "python")
        if not os.path.exists(python):
            raise unittest.SkipTest("no build/venv; scripts/test makes it")
        checks = self.examined(python)
        self.expect(checks, "torch", "ok", r"PyTorch \d")
        self.expect(checks, "jpeg", "ok")
        if subprocess.run([python, "-c", "import cv2"], stderr=subprocess.DEVNULL).returncode == 0:
            self.expect(checks, "hidden", "warn", "libjpeg in cv2")
        self.expect(checks, "deepbind", "ok")


if __name__ == "__main__":
    scene.main()
