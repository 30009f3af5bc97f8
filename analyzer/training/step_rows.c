/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/step_rows.h"
#include "analyzer/training/training_account.h"

#include <errno.h>
#include <stdlib.h>

int sp_step_rows_gather(struct sp_step_rows *rows, const struct sp_training *training)
{
	size_t room = 1;

	*rows = (struct sp_step_rows){.list = NULL};
	for (uint32_t t = 0; t < training->count; t++)
		if (!sp_trainer_is_folded(&training->trainers[t]))
			room += training->trainers[t].steps.count;
	rows->list = calloc(room, sizeof(*rows->list));
	if (!rows->list)
		return -ENOMEM;
	for (uint32_t t = 0; t < training->count; t++) {
		if (sp_trainer_is_folded(&training->trainers[t])) {
			rows->folded++;
			continue;
		}
		for (uint32_t i = 0; i < training->trainers[t].steps.count; i++)
			if (sp_step_is_selected(training, &training->trainers[t], i))
				rows->list[rows->count++] =
					(struct sp_step_row){&training->trainers[t], i};
	}
	return 0;
}

static uint64_t wall_ns(const struct sp_step_rows *rows, uint32_t i)
{
	return sp_step_wall_ns(sp_step_of_row(&rows->list[i]));
}

void sp_step_rows_thin(struct sp_step_rows *rows, uint32_t most)
{
	uint32_t stretches = most / 2, kept = 0, n = rows->count;

	if (n <= most)
		return;
	for (uint64_t s = 0; s < stretches; s++) {
		uint32_t from = (uint32_t)(s * n / stretches), low = from, high = from;

		for (uint32_t i = from; i < (s + 1) * n / stretches; i++) {
			low = wall_ns(rows, i) < wall_ns(rows, low) ? i : low;
			high = wall_ns(rows, i) > wall_ns(rows, high) ? i : high;
		}
		/* never overtakes what is still to be read: a stretch has two rows or more */
		struct sp_step_row first = rows->list[low < high ? low : high];
		struct sp_step_row second = rows->list[low < high ? high : low];

		rows->list[kept++] = first;
		if (low != high)
			rows->list[kept++] = second;
	}
	rows->count = kept;
	rows->thinned = n - kept;
}

void sp_step_rows_finish(struct sp_step_rows *rows)
{
	free(rows->list);
	*rows = (struct sp_step_rows){.list = NULL};
}
