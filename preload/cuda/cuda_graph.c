/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_graph.h"

#include <errno.h>
#include <stdint.h>

#include "preload/recorder/intern.h"

static __thread uint32_t in_a_row __attribute__((tls_model("initial-exec")));
static __thread uint32_t longest_row __attribute__((tls_model("initial-exec")));

int sp_cuda_graph_is_step(void)
{
	return in_a_row > longest_row;
}

int sp_cuda_graph_count(void)
{
	static uint64_t reported;
	int kept = errno;

	if (sp_coverage_is_new(&reported))
		sp_coverage_add("cuda-graphs", "unobservable",
				"a graph is one call: forward, backward and optimizer in it are "
				"not distinguished");
	in_a_row++;
	errno = kept;
	return sp_cuda_graph_is_step();
}

void sp_cuda_graph_phase_begun(void)
{
	if (in_a_row > longest_row)
		longest_row = in_a_row;
	in_a_row = 0;
}
