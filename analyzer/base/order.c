/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/order.h"

#include <stdlib.h>

struct rank {
	uint64_t value;
	uint32_t number;
};

SP_ORDER(compare_ranks, struct rank, SP_DOWN(value) ?: SP_UP(number))

uint32_t *sp_order_by(uint32_t n, uint64_t (*value)(const void *context, uint32_t i),
		      const void *context)
{
	struct rank *ranks = calloc(n + 1u, sizeof(*ranks));
	uint32_t *order = calloc(n + 1u, sizeof(*order));

	for (uint32_t i = 0; ranks && order && i < n; i++)
		ranks[i] = (struct rank){value(context, i), i};
	if (!ranks || !order) {
		free(order);
		order = NULL;
	} else {
		qsort(ranks, n, sizeof(*ranks), compare_ranks);
		for (uint32_t i = 0; i < n; i++)
			order[i] = ranks[i].number;
	}
	free(ranks);
	return order;
}
