#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# unwinder.sh FOLDER [HOST]: makes FOLDER/libunwind.a from Debian's sources of libunwind, for a
# wheel: the archive of libunwind-dev cannot become a library. apt checks the sources as it checks
# every package. HOST is the prefix of a cross compiler (aarch64-linux-gnu). Needs the network the
# first time.
set -euo pipefail
folder=$1 host=${2-}
[[ ! -e $folder/libunwind.a ]] || exit 0
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
cd "$folder"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cat > apt/sources.list <<SOURCES
deb-src [signed-by=$keyring] http://deb.debian.org/debian bookworm main
SOURCES
cat > apt/apt.conf <<CONFIGURATION
APT::Sandbox::User "";
Dir::Etc::sourcelist "$PWD/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$PWD/apt/lists";
Dir::Cache "$PWD/apt";
CONFIGURATION
export APT_CONFIG="$PWD/apt/apt.conf"
apt-get -qq update
apt-get -qq --download-only source libunwind
mkdir source build
tar --extract --strip-components=1 --directory=source --file libunwind_*.orig.tar.gz
tar --extract --file libunwind_*.debian.tar.xz
while read -r patch _; do
	[[ -z $patch || $patch == \#* ]] || patch --directory=source -p1 < "debian/patches/$patch"
done < debian/patches/series
cd build
# The unwinder needs neither names of functions nor other processes, so it needs no liblzma.
../source/configure --quiet ${host:+--host="$host"} --disable-shared --enable-static --with-pic \
	--disable-minidebuginfo --disable-zlibdebuginfo --disable-coredump --disable-ptrace \
	--disable-setjmp --disable-documentation --disable-tests --disable-cxx-exceptions \
	--disable-dependency-tracking CFLAGS="-O2 -ffunction-sections -ffile-prefix-map=$PWD=."
make --silent -C src -j "$(nproc)"
mv src/.libs/libunwind.a "$folder/"
cp ../source/COPYING "$folder/libunwind.txt"
cd ..
rm -rf apt source build debian libunwind_*
