# SPDX-License-Identifier: Apache-2.0
"""bed.py WHEEL HEADERS… OUT: builds the libraries of NVIDIA that a CUDA wheel of PyTorch needs.

WHEEL is the folder of the installed package torch, HEADERS are those with NVIDIA's cuda.h and all
that it includes, OUT gets the libraries. Functions with a body lie in *.c here. All others that the
wheel imports become stubs: each says its name on stderr and returns an error, so that a newer wheel
shows what the bed lacks."""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FAKE = os.path.join(HERE, "..", "fake")
# Library: (prefix of its functions, sources with bodies).
BODIES = {
    "libcuda.so.1": (r"cu(?!File)[A-Z]", ["device.c", "driver.c", "fake_observer.c"]),
    "libcudart.so": (r"(__)?cuda", ["runtime.c"]),
    "libcublas.so": (r"cublas(?!Lt)", ["blas.c"]),
    "libcublasLt.so": (r"cublasLt", ["blas_lt.c"]),
    "libcudnn.so": (r"cudnn", ["dnn.c"]),
    "libcusparse.so": (r"cusparse(?!Lt)", ["sparse.c"]),
    "libcusparseLt.so": (r"cusparseLt", []),
    "libcusolver.so": (r"cusolver", ["solver.c"]),
    "libcufft.so": (r"cufft", ["fft.c"]),
    "libcurand.so": (r"curand", []),
    "libnccl.so": (r"p?nccl", ["collectives.c"]),
    "libnvrtc.so": (r"nvrtc", ["rtc.c"]),
    "libcufile.so": (r"cuFile", []),
    "libnvshmem_host.so": (r"nvshmem", []),
    "libcupti.so": (r"cupti", ["fake_cupti.c"]),
    "libnvJitLink.so": (r"nvJitLink", []),
}
# Where no function has a body, because nothing reads its result.
STUB = """
unsigned long {name}(void);
unsigned long {name}(void)
{{
	CALLED("{name}");
	sim_missing("{name}");
	return 999;
}}
"""


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def wheel_libraries(wheel):
    folder = os.path.join(wheel, "lib")
    return [os.path.join(folder, name) for name in os.listdir(folder) if ".so" in name]


def needed(libraries):
    """SONAMEs that are not in the wheel itself."""
    own = {os.path.basename(path) for path in libraries}
    names = set()
    for path in libraries:
        names |= set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-dW", path)))
    return names - own


def imports(libraries):
    """(function, SONAME of its version or None) of all undefined symbols."""
    found = set()
    for path in libraries:
        for line in output("readelf", "--dyn-syms", "-W", path).splitlines():
            fields = line.split()
            if len(fields) >= 8 and fields[6] == "UND":
                name, _, version = fields[7].partition("@")
                found.add((name, version.lstrip("@") or None))
    return found


def defined(path):
    return {
        line.split()[-1].split("@")[0]
        for line in output("nm", "-D", "--defined-only", path).splitlines()
    }


def compile_library(soname, sources, headers, out, version_script=None):
    command = ["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fPIC", "-shared"]
    command += [f"-I{folder}" for folder in [*headers, HERE, FAKE]]
    command += [*sources, "-o", os.path.join(out, soname)]
    command += [f"-Wl,-soname,{soname}", "-Wl,-Bsymbolic", "-ldl", "-lpthread", "-lrt"]
    if version_script:
        command.append(f"-Wl,--version-script={version_script}")
    subprocess.run(command, check=True)


def path_of(source):
    own = os.path.join(HERE, source)
    return own if os.path.exists(own) else os.path.join(FAKE, source)


def body_of(soname):
    for stem, (prefix, sources) in BODIES.items():
        if soname == stem or soname.startswith(stem + "."):
            return prefix, [path_of(name) for name in sources]
    return None


def build(soname, wanted, headers, out):
    """Returns the names of the functions that have no body."""
    prefix, sources = body_of(soname)
    mine = {(n, v) for n, v in wanted if re.match(prefix, n)}
    versions = {v for _, v in mine if v}
    if sources:
        compile_library(soname, sources, headers, out)
    have = defined(os.path.join(out, soname)) if sources else set()
    missing = sorted({n for n, _ in mine} - have)
    stubs = os.path.join(out, soname + ".stubs.c")
    with open(stubs, "w") as file:
        file.write('#include "count.h"\n#include "missing.h"\n')
        for name in missing:
            file.write(STUB.format(name=name))
    script = None
    if versions:
        script = os.path.join(out, soname + ".map")
        with open(script, "w") as file:
            file.write("%s { global: *; };\n" % versions.pop())
    compile_library(soname, [*sources, stubs], headers, out, script)
    return missing


def main(wheel, headers, out):
    os.makedirs(out, exist_ok=True)
    libraries = wheel_libraries(wheel)
    wanted = imports(libraries)
    sonames = {name for name in needed(libraries) | {"libcuda.so.1"} if body_of(name)}
    for soname in sorted(sonames):
        missing = build(soname, wanted, headers, out)
        print(f"{soname}: {len(missing)} functions without a body")


def prepare(python, out):
    """Builds the libraries for the wheel that this Python has."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = output(python, "-c", code).strip()
    # cu13, or for CUDA 12 a folder for each package
    headers = glob.glob(os.path.join(site, "nvidia", "c*", "include"))
    main(os.path.join(site, "torch"), headers, out)
    # PyTorch's libraries look beside the headers first, before LD_LIBRARY_PATH.
    for path in glob.glob(os.path.join(site, "nvidia", "c*", "lib", "*.so*")):
        os.unlink(path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:-1], sys.argv[-1])
