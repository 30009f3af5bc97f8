"""Which functions of CUDA have a hook: those that the field's study lists, and of those that the installed CUDA has, all
that give the device work, wait for it or get memory, but for the ones named here with their reason."""

import os
import re
import subprocess
import unittest

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
    ncclScatter ncclSend ncclRecv ncclGroupEnd"""

WORK_OF_RUNTIME = re.compile(
    r"(__)?cuda(Launch|GraphLaunch|Memcpy|Memset|Stream(Sync|Query|Wait|Begin|End|Destroy)|Device(Sync|Reset)|Event(Sync|Query"
    r"|Record)|Malloc|Free|Host(Alloc|Reg|Unreg)|Thread(Sync|Exit)|MemPrefetch|MemDiscard)"
)
WORK_OF_DRIVER = re.compile(
    r"cu(Launch|GraphLaunch|Memcpy|Memset|Stream(Sync|Query|Wait|Write|Batch|Begin|End|Destroy)|Ctx(Sync|Destroy)|DevicePrimaryCtx"
    r"(Reset|Release)|Event(Sync|Query|Record)|Mem(Alloc|Free|HostAlloc|HostReg|HostUnreg|Create|Release|Prefetch|Discard)|(Mipmapped)?"
    r"Array(3D)?(Create|Destroy))"
)
# docs/CUDA.md, "What is not seen".
ARRAYS = r"cuda(Malloc3D|Malloc|MallocMipmapped|Free|FreeMipmapped)(Mipmapped)?Array|cu(Mipmapped)?Array(3D)?(Create|Destroy)"
MANAGED = r"cu(da)?Mem(Prefetch|Discard\w*)(Batch)?Async(_v2)?(_ptsz)?|cu(da)?MemDiscardAndPrefetchBatchAsync(_ptsz)?"
STREAM_MEMORY = r"cuStream(WaitValue|WriteValue)(32|64)(_v2)?(_ptsz)?|cuStreamBatchMemOp(_v2)?(_ptsz)?"
NOT_HOOKED = re.compile(f"({ARRAYS}|{MANAGED}|{STREAM_MEMORY})")


def exports(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.decode().splitlines()}


def listed(table):
    return {name + form for suffix, names in table.items() for name in names.split() for form in {"", suffix}}


class EntryPoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours = exports(os.environ["STAGEPROF_TEST_LIB"])

    def test_those_of_the_study(self):
        for names in (listed(RUNTIME), listed(DRIVER), set(NCCL.split())):
            self.assertEqual(names - self.ours, set())

    def assert_hooked(self, theirs):
        missing = {name for name in theirs if not NOT_HOOKED.fullmatch(name)} - self.ours
        self.assertEqual(missing, set())
        self.assertGreater(len(theirs & self.ours), 50)
        needless = {name for name in theirs if NOT_HOOKED.fullmatch(name)} & self.ours
        self.assertEqual(needless, set(), "named as not hooked")

    def test_the_installed_runtime(self):
        folder = os.environ.get("STAGEPROF_TEST_CUDA")
        if not folder:
            self.skipTest("no CUDA toolkit")
        names = exports(os.path.join(folder, "libcudart.so"))
        self.assert_hooked({name for name in names if WORK_OF_RUNTIME.match(name)})

    def test_the_installed_driver_s_header(self):
        """Names whose ABI is old (cuMemAlloc beside cuMemAlloc_v2) are those of CUDA 3."""
        folder = os.environ.get("STAGEPROF_TEST_CUDA_INCLUDE")
        if not folder:
            self.skipTest("no CUDA toolkit")
        with open(os.path.join(folder, "cuda.h")) as file:
            names = set(re.findall(r"CUDAAPI\s+(cu\w+)\s*\(", file.read()))
        old = {name for name in names for form in ("_v2", "_v2_ptsz", "_v2_ptds") if name + form in self.ours}
        old -= self.ours
        old |= {name + "_ptsz" for name in old}
        self.assert_hooked({name for name in names if WORK_OF_DRIVER.match(name)} - old)


if __name__ == "__main__":
    unittest.main()
