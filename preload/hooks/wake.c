/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hooks/wake.h"

void (*sp_wake_step)(void);
