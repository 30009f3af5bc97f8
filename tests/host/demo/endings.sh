# SPDX-License-Identifier: Apache-2.0
# However a Python program ends, its status, stdout and stderr are the same under the preload.
. "$(dirname "$0")/scene.sh"

python=$(python3 -c 'import sys; print(sys.executable)')
head -c 100000 /dev/urandom > data.bin
read_data='data = open("data.bin", "rb").read(); print(len(data), flush=True)'

# The shell's view of a Python program: its two outputs and its status.
sp_ending()
{
	local status=0
	"$@" > out 2> err || status=$?
	cat out err
	echo "status $status"
}

while read -r ending; do
	[[ -n $ending ]] || continue
	program="import os, signal, subprocess, sys, threading; $read_data; $ending"
	sp_ending "$python" -c "$program" > bare
	sp_ending env LD_PRELOAD="$library" "$python" -c "$program" > preload
	cmp bare preload || sp_fail "'$ending': $(diff bare preload)"
	sp_runs_expect run.zst
	"$report" stages --format=json run.zst > report.json
	[[ $(sp_json report.json "max(s['bytes'] for s in d['stages'] if s['stage'] == 'file_read')") \
		-ge 100000 ]] || sp_fail "'$ending': the reads are not in the report"
	rm -rf run.zst
done <<'ENDINGS'
pass
sys.exit(3)
raise ValueError("as it was")
os._exit(4)
os.abort()
os.kill(os.getpid(), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), signal.SIGINT)
sys.exit(os.waitstatus_to_exitcode(os.system("exit 5")))
sys.exit(subprocess.run(["sh", "-c", "echo child; exit 6"]).returncode)
threading.Thread(target=lambda: open("data.bin").close(), daemon=True).start(); os._exit(7)
os.execvp("sh", ["sh", "-c", "exit 8"])
os.close(1); os.close(2); sys.exit(9)
ENDINGS
