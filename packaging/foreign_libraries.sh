#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# foreign_libraries.sh ARCHITECTURE FOLDER: puts this Debian's libraries of another architecture
# into FOLDER, for a cross compiler. apt checks them as it checks every package; nothing is
# installed, and the system's own apt is left alone. Needs the network the first time.
set -eu
architecture=$1 folder=$2
[ ! -e "$folder/whole" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
cd "$folder"
folder=$PWD
touch apt/status
cat > apt/apt.conf <<CONFIGURATION
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
Dir::State::lists "$folder/apt/lists";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt";
CONFIGURATION
export APT_CONFIG="$folder/apt/apt.conf"
apt-get -qq update
apt-get -qq download libelf-dev libiberty-dev liblzma-dev libsqlite3-dev libunwind-dev \
	libutf8proc-dev libxxhash-dev libzstd-dev zlib1g-dev
for package in *.deb; do
	dpkg-deb --extract "$package" .
done
rm -rf apt ./*.deb
touch whole
