# SPDX-License-Identifier: Apache-2.0
# names.sh SOURCE LIBRARY [PYTHON...]: what the programs found here import of the calls that move,
# map, list or decode data is hooked, or stands in not_hooked.txt with a reason.
set -euo pipefail
source=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# libc's names by what they are made of: each prefix and suffix gives an alias (__fread_chk,
# preadv64v2).
libc_family='^_*(IO_)?(f?open(at)?|creat|freopen|fdopen|popen|p?close|closefrom|close_range|fclose'
libc_family+='|p?(read|write)v?|f(read|write)|readlink|mmap|munmap|mremap|msync|m?advise|madvise'
libc_family+='|posix_[fm]advise|readahead|sendfile|copy_file_range|splice|vmsplice|tee|f(data)?sync|syncfs'
libc_family+='|sync|sync_file_range|[fl]?x?stat(at)?|[fl]xstat(at)?|statx|f?statv?fs|e?access|faccessat'
libc_family+='|euidaccess|(fd)?opendir|readdir|scandir(at)?|closedir|rewinddir|glob|n?ftw|fts_(open|read)'
libc_family+='|dup[23]?|fcntl|aio_[a-z]+|lio_listio|getdents|process_vm_readv|recv|send|recvfrom|sendto'
libc_family+='|(recv|send)m?msg|f?(get|put)[cs]|(get|put)char|getline|getdelim|fscanf|f?l?seeko?|ungetc'
libc_family+='|(un|sym)?link(at)?|rmdir|remove|mkdir(at)?|rename(at2?)?'
libc_family+='|mks?temp|mkostemps?|tmpfile|shm_open|open_memstream|fallocate|posix_fallocate|f?truncate'
libc_family+='|wait(pid|id|[34])?|poll|ppoll|p?select|epoll_p?wait2?|sem_(timed|clock)?wait|pthread_cond_(timed|clock)?wait|(clock_)?nanosleep|u?sleep)'
libc_family+='(64)?(v2)?(_2|_unlocked|_r|_chk)*$'
other_family='^(tj3?Decompress[A-Z0-9].*|H5D(read|write|open)(_|[0-9]|$).*|H5Oopen|png_(read_(row|image|end)|process).*'
other_family+='|jpeg_(read_(scan|raw)|start_dec|finish_dec|skip|crop).*|WebPI?(Decode|Update|Append).*'
other_family+='|avcodec_(receive_frame|send_packet|decode_(video|audio).*)|inflate(Back)?|uncompress2?|gzread'
other_family+='|LZ4F?_decompress.*|ZSTD_decompress.*|snappy_uncompress|_ZN6snappy.*[uU]ncompress.*)$'

# Every object that an interpreter may load, and the libraries of data and images in the system.
sp_names_objects()
{
	local python
	for python; do
		"$python" - <<-'EOF' || true
			import os, sys, sysconfig
			folders = {sysconfig.get_path(name) for name in ("purelib", "platlib", "platstdlib")}
			folders |= {path for path in sys.path if path.endswith("-packages")}
			print(os.path.realpath(sys.executable))
			for folder in sorted(folders):
			    for here, _, names in os.walk(folder):
			        for name in names:
			            if name.endswith(".so") or ".so." in name:
			                print(os.path.join(here, name))
		EOF
	done
	ldconfig -p | sed -n 's/.*=> //p' |
		grep -E '/lib(python3|hdf5|png|jpeg|turbojpeg|webp|tiff|lmdb|avformat|avcodec|opencv|torch|arrow|stdc)' || true
}

sp_names_objects "$@" | sort -u | while read -r object; do
	[[ -f $object ]] && readlink -f "$object"
done | sort -u > "$work/objects"
[[ $(wc -l < "$work/objects") -ge 50 ]] || {
	echo "only $(wc -l < "$work/objects") objects found to look into"
	exit 77
}

libc=$(ldconfig -p | sed -n 's/.*libc\.so\.6 (libc6,x86-64).* => //p; s/.*libc\.so\.6 (libc6,AArch64).* => //p' | head -1)
nm -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u > "$work/libc"
xargs -n 200 -a "$work/objects" -d '\n' nm -D --undefined-only 2> /dev/null |
	awk '{ sub(/@.*/, "", $2); if ($2 != "") print $2 }' | sort -u > "$work/imported" || true
nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u > "$work/hooked"
sed -n 's/^\([^# ][^ ]*\) .*/\1/p' "$source/tests/host/names/not_hooked.txt" | sort -u > "$work/excused"

{
	comm -12 "$work/imported" "$work/libc" | grep -E "$libc_family"
	grep -E "$other_family" "$work/imported"
} | sort -u > "$work/family"

# A family that finds nothing of what is surely there finds nothing at all.
for name in open64 read fopen64 mmap64 fstat64 readdir64; do
	grep -qx "$name" "$work/family" || { echo "nobody imports $name?" >&2; status=1; }
done
for name in $(comm -23 "$work/family" "$work/hooked" | comm -23 - "$work/excused"); do
	echo "$name is imported, not hooked, and not in not_hooked.txt:" >&2
	xargs -a "$work/objects" -d '\n' nm -D --undefined-only -A 2> /dev/null |
		grep -E " U $name(@|\$)" | head -3 >&2 || true
	status=1
done
for name in $(comm -12 "$work/excused" "$work/hooked"); do
	echo "$name is hooked and in not_hooked.txt" >&2
	status=1
done
for name in $(awk '!/^#/ && NF == 1 { print $1 }' "$source/tests/host/names/not_hooked.txt"); do
	echo "$name has no reason in not_hooked.txt" >&2
	status=1
done
echo "$(wc -l < "$work/objects") objects import $(wc -l < "$work/family") names of the family," \
	"$(comm -12 "$work/family" "$work/hooked" | wc -l) of them hooked"
exit $status
