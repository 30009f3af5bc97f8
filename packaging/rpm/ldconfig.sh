# SPDX-License-Identifier: Apache-2.0
/sbin/ldconfig
