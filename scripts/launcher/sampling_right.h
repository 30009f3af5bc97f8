/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGEPROF_LAUNCHER_SAMPLING_RIGHT_H
#define STAGEPROF_LAUNCHER_SAMPLING_RIGHT_H

/* Says in one line on stderr why the sampler was refused, and what helps. */
void sp_sampling_right_explain(void);

/* NULL where the sampler may read processes; otherwise why it may not, and what helps: texts to
 * translate. */
const char *sp_sampling_right_missing(const char **ret_fix);

#endif
