# SPDX-License-Identifier: Apache-2.0
# The library of the aarch64 wheel under qemu-user: calls, kernels and waiting lines of the fake
# CUDA, which is built for aarch64 by the compiler that makes the wheel. cuda/culprits is left out:
# its native stacks are whole there, but the report does not name their functions, because qemu-user
# has no process_vm_readv, by which the recorder reads an object's build id.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/arm64.sh"
. "$(dirname "$0")/victims.sh"

sp_unpack aarch64
sp_exact "$sp_arm64" aarch64-linux-gnu-gcc cuda/calls cuda/lines cuda/cupti
sp_tried "$sp_arm64" "the fake CUDA: exact counts of its calls, its kernels, its waiting lines" \
	" arm64 under qemu-user"
