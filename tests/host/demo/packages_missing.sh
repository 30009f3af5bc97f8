# SPDX-License-Identifier: Apache-2.0
# Without root, a missing package stops the scripts with the command to give; with root, it is
# installed by one apt-get and named; with nothing missing, apt-get is not called.
. "$(dirname "$0")/scene.sh"

mkdir stubs
cat > stubs/apt-get <<'STUB'
#!/bin/bash
echo "apt-get $*" >> "$SP_WORK/apt.log"
STUB
cat > stubs/dpkg-query <<'STUB'
#!/bin/bash
[[ " $SP_MISSING " == *" ${!#} "* ]] || echo installed
STUB
cat > stubs/id <<'STUB'
#!/bin/bash
echo "$SP_UID"
STUB
chmod +x stubs/*
export PATH=$SP_WORK/stubs:$PATH SP_ROOT SP_WORK SP_UID SP_MISSING

# Runs the installer with the stubs as user SP_UID; its status is left in $status.
sp_install_try()
{
	status=0
	rm -f apt.log
	touch apt.log
	bash -c 'set -euo pipefail; . "$SP_ROOT/scripts/install-packages.sh"; sp_packages_install '"$1" \
		> out 2> err || status=$?
}

SP_UID=1000 SP_MISSING="libzstd-dev uthash-dev" sp_install_try build
[[ $status -eq 1 ]] || sp_fail "status $status without root"
grep -q 'apt-get install --no-install-recommends libzstd-dev uthash-dev$' err ||
	sp_fail "the command to give is not there: $(cat err)"
[[ ! -s apt.log ]] || sp_fail "called apt-get without root"

SP_UID=0 SP_MISSING="libzstd-dev" sp_install_try build
[[ $status -eq 0 ]] || sp_fail "status $status as root"
grep -q 'install.* libzstd-dev$' apt.log || sp_fail "apt-get was called as: $(cat apt.log)"
grep -q 'libzstd-dev' err || sp_fail "did not say what it installs"

# Packages that only the tests need do not keep the demo from running.
SP_UID=1000 SP_MISSING="valgrind" sp_install_try build
[[ $status -eq 0 && ! -s apt.log && ! -s err ]] || sp_fail "build asks for valgrind: $(cat err)"
SP_UID=1000 SP_MISSING="valgrind" sp_install_try test
[[ $status -eq 1 ]] || sp_fail "test does not ask for valgrind"
