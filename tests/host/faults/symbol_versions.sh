# SPDX-License-Identifier: Apache-2.0
# What libstageprof.so asks of libc is in every glibc from the published floor on: README.md names
# it. An older one could not load the library, and no program of the job would start.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
library=$STAGEPROF_TEST_LIB

floor=$(grep -oE 'glibc 2\.[0-9]+' "$root/README.md" | head -1 | cut -d' ' -f2)
[[ -n $floor ]] || { echo "README.md names no glibc"; exit 1; }
highest=$(readelf -V "$library" | grep -oE 'GLIBC_2\.[0-9.]+' | sort -uV | tail -1)
[[ -n $highest ]] || { echo "$library asks for no version of glibc"; exit 1; }
echo "highest: $highest, published: $floor"
[[ $(printf '%s\n' "${highest#GLIBC_}" "$floor" | sort -V | tail -1) == "$floor" ]]
