/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_machine.h"

uint32_t sp_step_row_off = SP_STEP_ROWS;
