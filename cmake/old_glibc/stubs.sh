#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stubs.sh CC OBJDUMP FLOOR FOLDER: writes to FOLDER the stubs of libc and libm that a program is
# linked to so that it starts with glibc FLOOR ("2.17"). A stub has the names of this system's
# library and no code. Each name has the newest version that FLOOR had, because glibc keeps old
# versions for ever. A name that is newer than FLOOR is missing, so the link fails on it.
set -eu
cc=$1 objdump=$2 floor=$3 folder=$4
mkdir -p "$folder"

stub()
{
	name=$1 soname=$2
	"$objdump" -T "$($cc -print-file-name="$soname")" | awk -v floor="$floor" -v folder="$folder" \
		-v name="$name" '
	function number(version, part) {
		split(version, part, ".")
		return part[1] * 1000000 + part[2] * 1000 + part[3]
	}
	# ADDRESS FLAGS SECTION SIZE VERSION NAME; an older version of a name is in parentheses.
	NF >= 6 && /GLIBC_[0-9]/ && !/\*UND\*/ && !/\*ABS\*/ {
		version = $(NF - 1)
		gsub(/[()]/, "", version)
		plain = substr(version, 7)
		if (version !~ /^GLIBC_[0-9.]+$/ || number(plain) > number(floor))
			next
		if ($NF in newest && number(newest[$NF]) > number(plain))
			next
		newest[$NF] = plain
		size[$NF] = $(NF - 2)
		binding[$NF] = substr($0, 19, 1) == "w" ? ".weak" : ".globl"
		type[$NF] = substr($0, 24, 1) == "O" ? "object" : "function"
		address[$NF] = type[$NF] == "object" ? $1 : "stub_" $NF
		versions[plain] = 1
	}
	END {
		assembly = folder "/" name ".s"
		script = folder "/" name ".map"
		printf "" > assembly
		printf "" > script
		print ".data" >> assembly
		# A program copies an object with all its names (environ, __environ). They stay
		# one object because they have one address, and all but one are weak.
		for (symbol in newest)
			labels[address[symbol]] = labels[address[symbol]] " " symbol
		for (place in labels) {
			count = split(labels[place], names, " ")
			print ".balign 32" >> assembly
			for (i = 1; i <= count; i++) {
				symbol = names[i]
				printf "%s stub_%s\n.type stub_%s, %%%s\n", binding[symbol],
					symbol, symbol, type[symbol] >> assembly
				printf ".size stub_%s, 0x%s\n", symbol, size[symbol] >> assembly
				printf ".symver stub_%s, %s@@GLIBC_%s\nstub_%s:\n", symbol, symbol,
					newest[symbol], symbol >> assembly
			}
			printf ".skip 0x%s + 1\n", size[names[1]] >> assembly
		}
		for (version in versions)
			printf "GLIBC_%s { };\n", version >> script
		print "STUB_LOCAL { local: stub_*; };" >> script
	}'
	"$cc" -nostdlib -shared -Wl,-soname,"$soname" -Wl,--version-script="$folder/$name.map" \
		-o "$folder/$soname" "$folder/$name.s"
}

stub libc libc.so.6
stub libm libm.so.6
# Until glibc 2.34 these two had functions that are libc's today: a program asks for the libraries,
# and finds each function in the one that has it. They come before libc: until glibc 2.30 the search
# for a function of "libc.so.6" ended at libc, with an error.
for soname in libpthread.so.0 libdl.so.2; do
	"$cc" -nostdlib -shared -Wl,-soname,$soname -o "$folder/$soname" -x c /dev/null
done
# The linker finds these for -lc and -lm. libc_nonshared.a has what is linked into each program.
nonshared=$($cc -print-file-name=libc_nonshared.a)
# On Arm the dynamic linker has the stack protector's guard. Elsewhere there is no such file.
linker=$($cc -print-file-name=ld-linux-aarch64.so.1)
[ -e "$linker" ] || linker=
echo "GROUP($folder/libpthread.so.0 $folder/libdl.so.2 $folder/libc.so.6 $nonshared $linker)" \
	> "$folder/libc.so"
echo "GROUP($folder/libm.so.6)" > "$folder/libm.so"
