#include "preload/cuda_graph.h"

#include <errno.h>
#include <stdint.h>

#include "preload/cuda_time.h"
#include "preload/names.h"

static __thread uint32_t in_a_row __attribute__((tls_model("initial-exec")));
static __thread uint32_t longest_row __attribute__((tls_model("initial-exec")));

void sp_cuda_graph_launch(void)
{
	static uint64_t told;
	int kept = errno;

	if (sp_cover_is_new(&told))
		sp_cover("cuda-graphs", "unobservable",
			 "a graph is one call: forward, backward and optimizer in it are not told apart");
	if (++in_a_row > longest_row)
		sp_cuda_time_graph_begin();
	errno = kept;
}

void sp_cuda_graph_launched(void)
{
	if (in_a_row > longest_row)
		sp_cuda_time_graph_end();
}

void sp_cuda_graph_is_part(void)
{
	if (in_a_row > longest_row)
		longest_row = in_a_row;
	in_a_row = 0;
}
