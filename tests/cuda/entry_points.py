# SPDX-License-Identifier: Apache-2.0
"""The functions of CUDA that have a hook: those that the field's study lists, and of those that the
installed CUDA has, all
that give the device work, wait for it or get memory, except the ones named here with their reason.
The ABI is checked, too: that of the version which cuGetProcAddress is asked for, as the installed
headers have it."""

import collections
import glob
import os
import re
import subprocess
import unittest

HOOKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "preload", "cuda")

# Each with the forms for per-thread default streams, where the function has a stream of its own.
RUNTIME = {
    "_ptsz": """cudaLaunchKernel cudaLaunchKernelExC cudaLaunchCooperativeKernel __cudaLaunchKernel cudaGraphLaunch
        cudaMemcpyAsync cudaMemcpy2DAsync cudaMemcpy3DAsync cudaMemcpy3DPeerAsync cudaMemcpyBatchAsync cudaMemsetAsync
        cudaStreamSynchronize cudaStreamQuery cudaStreamWaitEvent cudaEventRecord cudaEventRecordWithFlags cudaMallocAsync
        cudaFreeAsync cudaMallocFromPoolAsync cudaLaunchHostFunc cudaStreamBeginCapture cudaStreamEndCapture""",
    "_ptds": "cudaMemcpy cudaMemcpy2D cudaMemcpy3D cudaMemcpy3DPeer cudaMemset",
    "": """cudaMemcpyPeer cudaMemcpyPeerAsync cudaDeviceSynchronize cudaEventSynchronize cudaEventQuery cudaMalloc cudaFree
        cudaHostAlloc cudaMallocHost""",
}
DRIVER = {
    "_ptsz": """cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel cuGraphLaunch cuMemcpyAsync cuMemcpyHtoDAsync_v2
        cuMemcpyDtoHAsync_v2 cuMemcpyDtoDAsync_v2 cuStreamSynchronize cuMemAllocAsync""",
    "_ptds": "cuMemcpy cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoD_v2",
    "": "cuCtxSynchronize cuEventSynchronize cuMemAlloc_v2 cuGetProcAddress cuGetProcAddress_v2",
}
NCCL = """ncclAllReduce ncclReduce ncclBroadcast ncclBcast ncclAllGather ncclReduceScatter ncclAlltoAll ncclGather
    ncclScatter ncclSend ncclRecv ncclPutSignal ncclSignal ncclWaitSignal ncclGroupEnd"""

# docs/CUDA.md, "Not recorded".
NOT_SEEN = re.compile(
    "|".join(
        (
            r"cuda(Malloc3D|Malloc|MallocMipmapped|Free|FreeMipmapped)(Mipmapped)?Array|cu(Mipmapped)?Array(3D)?(Create|Destroy)",
            r"cuMemMapArrayAsync(_ptsz)?",
            r"cu(da)?Mem(Prefetch|Discard|DiscardAndPrefetch)(Batch)?Async(_v2)?(_ptsz)?",
            r"cuStream(WaitValue|WriteValue)(32|64)(_v2)?(_ptsz)?|cuStreamBatchMemOp(_v2)?(_ptsz)?",
            r"cuMemBatchDecompressAsync(_ptsz)?|cu(da)?(Device)?FlushGPUDirectRDMAWrites",
            r"cuMem(Map|Unmap|SetAccess)",
            r"cu(da)?(Module|Library)(Load|Unload)\w*|cuLink\w+",
            r"cu(da)?(Graphics|GL|EGL|VDPAU)\w+|cudaEventCreateFromEGLSync|cuStream(Begin|End)CaptureToCig(_ptsz)?",
        )
    )
)
# Graphs are built of these, and launched as a whole.
NODES = re.compile(
    r"cu(da)?Graph(Exec)?(Add|Create|Clone|Destroy|Get|ChildGraph|Conditional|Debug|\w*Node|Re|Batch)\w*"
)
# Functions that give no work and wait for nothing: questions, settings, handles made and ended.
NO_WORK = re.compile(r"__cuda(Get|Init|Pop|Push|Register|Unregister)\w+|cu(da)?(" + "|".join("""
    (Mipmapped)?Array(3D)?Get ChooseDevice Checkpoint Coredump Create Destroy Ctx(Attach|Create|Disable|Enable|From|Get|Pop|Push|Reset|Set)
    Dev(Resource|Sm) Device(Can|Compute|Disable|Enable|Get|Register|Set|Total|Unregister) DevicePrimaryCtx(Get|Retain|Set)
    DriverGet Event(Create|Destroy|Elapsed) ExecutionCtx(Get|StreamCreate) ExternalMemoryGet Func Get GreenCtx(Create|Get|StreamCreate)
    HostGet Import InitDevice Ipc Kernel(Get|Set) Library(Enumerate|Get) Logs Mem(Advise|Export|Get|Import|Range|Retain|SetMemPool)
    MemHostGet MemPool(Create|Export|Get|Import|Set) Module(Enumerate|Get) Multicast Occupancy ParamSet Peek Pointer Profiler
    RuntimeGet Set Stream(Copy|Create|Get|IsCapturing|Set|Update) Surf Tensor Tex ThreadExchange UserObject
    """.split()) + r")\w*")
# No word of NO_WORK excuses a name that has one of these, except functions that only report or
# name such work.
WORK = re.compile(
    r"Launch|Memcpy|Memset|Sync|Wait|Query|Record|Alloc|Malloc|Free|Signal|Upload|Instantiate|Callback|Async|Batch"
)
WORD_ONLY = re.compile(
    r"cu(da)?(Device(Register|Unregister)AsyncNotification|DeviceGetNvSciSync\w+|Mem(Get|Retain)Allocation\w+"
    r"|Logs(Register|Unregister)Callback|Coredump(Register|Deregister)\w+Callback)"
)


def exports(library):
    done = subprocess.run(
        ["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, check=True
    )
    return {line.split()[-1].split("@")[0] for line in done.stdout.decode().splitlines()}


def listed(table):
    return {
        name + form
        for suffix, names in table.items()
        for name in names.split()
        for form in {"", suffix}
    }


def folders():
    """The folders with headers of each CUDA at hand: the toolkit's, and those of wheels
    (scripts/requirements-test.txt)."""
    python = os.environ.get("STAGEPROF_TEST_PYTHON")
    wheels = (
        os.path.join(
            os.path.dirname(python),
            "..",
            "lib",
            "python3*",
            "site-packages",
            "nvidia",
            "cu*",
            "include",
        )
        if python
        else ""
    )
    found = [os.environ.get("STAGEPROF_TEST_CUDA_INCLUDE")] + sorted(glob.glob(wheels))
    return [
        folder
        for folder in found
        if folder and os.path.exists(os.path.join(folder, "cudaTypedefs.h"))
    ]


def text_of(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def split(text):
    """The outermost pieces between commas."""
    pieces, depth = [""], 0
    for at in text:
        depth += (at in "([{") - (at in ")]}")
        if at == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += at
    return [piece.strip() for piece in pieces if piece.strip()]


def closed(text, begin):
    """The text from `begin`, after a parenthesis, to the matching parenthesis."""
    end, depth = begin, 1
    while depth:
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    return text[begin : end - 1]


Entry = collections.namedtuple("Entry", "name since parameters")
# The indexes of the name and the version among the words of a line.
LINES = {
    "DRIVER": (0, 1),
    "DRIVER_LAUNCH": (0, 1),
    "DRIVER_V2": (0, 1),
    "DRIVER_ONE": (0, 1),
    "DRIVER_ALSO": (1, 2),
    "DRIVER_ONE_ALSO": (1, 2),
    "FUNCTION": (1, 2),
}


def our_table():
    """name -> its ABIs, oldest first."""
    source = text_of(HOOKS, "hooks_cuda_driver.c")
    table = collections.defaultdict(dict)
    for match in re.finditer(rf"^({'|'.join(LINES)})\(", source, re.M):
        words = split(closed(source, match.end()))
        name, since = (words[i] for i in LINES[match[1]])
        in_front = len(split(words[-2].strip("()")))
        on_stack = 4 if "launch_stack" in words[-2] else 0  # as one structure of five
        table[name][int(since)] = Entry(name, int(since), in_front + on_stack)
    return {name: [entries[since] for since in sorted(entries)] for name, entries in table.items()}


def their_table(folder):
    """name -> version -> the types of its parameters."""
    table = collections.defaultdict(dict)
    pattern = r"\(\s*CUDAAPI\s*\*\s*PFN_(cu\w+?)_v(\d+)(?:_ptsz|_ptds)?\)\s*\(([^;]*)\)\s*;"
    for name, version, parameters in re.findall(pattern, text_of(folder, "cudaTypedefs.h")):
        types = [
            re.sub(r"\s+", " ", re.sub(r"\w+$", "", p)).replace(" *", "*").strip()
            for p in split(parameters)
        ]
        table[name][int(version)] = [] if parameters.strip() == "void" else types
    return table


def checked():
    return int(re.search(r"#define SP_CUDA_CHECKED (\d+)", text_of(HOOKS, "abi_cuda.h"))[1])


class Versions(unittest.TestCase):
    """Every ABI that cuGetProcAddress can be asked for has a wrapper of its own, up to
    SP_CUDA_CHECKED."""

    def assert_abis(self, entries, theirs, newest, where):
        for entry in entries:
            if entry.since <= newest:
                self.assertIn(entry.since, theirs, where)
                self.assertEqual(
                    entry.parameters,
                    len(theirs[entry.since]) or 1,
                    f"{where}, {entry.since}: parameters",
                )
        for version, types in theirs.items():
            ours = [entry.since for entry in entries if entry.since <= version]
            if version > checked():
                continue
            if ours:
                self.assertEqual(
                    types,
                    theirs[ours[-1]],
                    f"{where}: changed in {version}, wrapped as of {ours[-1]}",
                )
            else:
                self.assertNotEqual(
                    types, theirs[entries[0].since], f"{where}: is the same in {version}"
                )

    def test_headers(self):
        ours, seen = our_table(), []
        self.assertGreater(len(ours), 75)
        for folder in folders():
            newest = int(re.search(r"#define CUDA_VERSION (\d+)", text_of(folder, "cuda.h"))[1])
            theirs = their_table(folder)
            self.assertGreater(len(theirs), 300)
            for name, entries in ours.items():
                with self.subTest(function=name, cuda=newest):
                    if entries[0].since <= newest:
                        self.assert_abis(entries, theirs[name], newest, f"{name}, CUDA {newest}")
            seen.append(newest)
        print("held against CUDA", ", ".join(map(str, seen)) or "none: no headers at hand")
        if not seen:
            self.skipTest("no headers of CUDA")


class EntryPoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours = exports(os.environ["STAGEPROF_TEST_LIB"])

    def test_those_of_the_study(self):
        for names in (listed(RUNTIME), listed(DRIVER), set(NCCL.split())):
            self.assertEqual(names - self.ours, set())

    def assert_all(self, theirs):
        """Each is hooked, or named here with its reason."""
        self.assertGreater(len(theirs & self.ours), 50)
        unknown = {
            name
            for name in theirs - self.ours
            if not NOT_SEEN.fullmatch(name) and not NODES.fullmatch(name)
        }
        unknown = {
            name
            for name in unknown
            if not NO_WORK.fullmatch(name) or WORK.search(name) and not WORD_ONLY.fullmatch(name)
        }
        self.assertEqual(sorted(unknown), [], "neither hooked nor named")
        needless = {name for name in theirs & self.ours if NOT_SEEN.fullmatch(name)}
        self.assertEqual(needless, set(), "named as not hooked")

    def test_the_installed_runtimes(self):
        libraries = [os.path.join(os.environ.get("STAGEPROF_TEST_CUDA", ""), "libcudart.so")]
        for folder in folders():
            libraries += glob.glob(os.path.join(folder, "..", "lib", "libcudart.so.*"))
        libraries = [library for library in libraries if os.path.exists(library)]
        if not libraries:
            self.skipTest("no CUDA runtime")
        for library in libraries:
            with self.subTest(library=library):
                self.assert_all({name for name in exports(library) if re.match("(__)?cuda", name)})

    def test_the_installed_driver_s_headers(self):
        """Names whose ABI is old (cuMemAlloc beside cuMemAlloc_v2) are those of CUDA 3."""
        for folder in folders():
            with self.subTest(folder=folder):
                header = text_of(folder, "cuda.h")
                names = set(re.findall(r"CUDAAPI\s+(cu\w+)\s*\(", header))
                old = {
                    name
                    for name in names
                    for form in ("_v2", "_v2_ptsz", "_v2_ptds")
                    if name + form in self.ours
                }
                old -= self.ours
                old |= {name + "_ptsz" for name in old}
                self.assert_all(names - old)
                forms = {
                    (name, name + "_" + form.lower())
                    for form, name in re.findall(r"__CUDA_API_(PTSZ|PTDS)\((cu\w+)\)", header)
                }
                missing = {
                    form for name, form in forms if name in self.ours and form not in self.ours
                }
                self.assertEqual(missing, set(), "forms for per-thread default streams")
        if not folders():
            self.skipTest("no headers of CUDA")


if __name__ == "__main__":
    unittest.main()
