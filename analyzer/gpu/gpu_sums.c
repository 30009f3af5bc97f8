/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/gpu_sums.h"

#include "analyzer/base/add_up.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"
#include "analyzer/training/training_account.h"

bool sp_gpu_time_sum(const struct sp_training *training, struct sp_gpu_sums *ret,
		     uint64_t *ret_dropped)
{
	*ret = (struct sp_gpu_sums){.spans = 0};
	*ret_dropped = 0;
	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];

		*ret_dropped += trainer->gpu.dropped;
		for (uint32_t i = 0; trainer->gpu.steps && i < trainer->steps.count; i++)
			if (sp_step_is_selected(training, trainer, i))
				SP_ADD_UP(ret, &trainer->gpu.steps[i]);
	}
	return ret->spans > 0;
}

const char *sp_gpu_time_missing(const struct sp_training *training, const struct sp_sums *stages)
{
	if (!training->count)
		return N_("no optimizer step was seen");
	if (sp_index_has_digested(&training->run->index))
		return N_("a digest does not keep time on the device");
	if (sp_stages_have_cuda(stages))
		return N_("CUDA was called, and no time on the device was recorded");
	return N_("no CUDA call was seen");
}
