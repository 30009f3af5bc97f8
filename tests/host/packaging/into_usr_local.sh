# SPDX-License-Identifier: Apache-2.0
# Run in a root: installs the unpacked wheel in /mnt/data.
set -eu
install -D -m 755 -t /usr/local/bin /mnt/data/scripts/*
install -D -m 644 -t /usr/local/lib /mnt/data/data/lib/*.so
install -D -m 644 -t /usr/local/lib/stageprof /mnt/data/data/lib/stageprof/*.so
ldconfig
