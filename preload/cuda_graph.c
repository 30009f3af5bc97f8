#include "preload/cuda_graph.h"

#include <errno.h>
#include <stdint.h>

#include "preload/cuda_time.h"
#include "preload/names.h"
#include "preload/process.h"

static uint64_t told; /* of which image */
static __thread uint32_t in_a_row __attribute__((tls_model("initial-exec")));
static __thread uint32_t longest_row __attribute__((tls_model("initial-exec")));

static void tell(void)
{
	uint64_t image = sp_process->image_start_ns;

	if (__atomic_exchange_n(&told, image, __ATOMIC_RELAXED) != image)
		sp_cover("cuda-graphs", "unobservable",
			 "a graph is one call: forward, backward and optimizer in it are not told apart");
}

void sp_cuda_graph_launch(void)
{
	int kept = errno;

	if (sp_process && __atomic_load_n(&told, __ATOMIC_RELAXED) != sp_process->image_start_ns)
		tell();
	if (++in_a_row > longest_row)
		sp_cuda_time_split();
	errno = kept;
}

void sp_cuda_graph_launched(void)
{
	if (in_a_row > longest_row)
		sp_cuda_time_close();
}

void sp_cuda_graph_is_part(void)
{
	if (in_a_row > longest_row)
		longest_row = in_a_row;
	in_a_row = 0;
}
