/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/process_end.h"

#include <signal.h>

#include "analyzer/reader/host.h"
#include "analyzer/totals/totals.h"

const char *sp_process_how_name(enum sp_process_how how)
{
	static const char *const names[SP_PROCESS_HOWS] = {
		[SP_PROCESS_UNKNOWN] = "unknown",     [SP_PROCESS_EXITED] = "exited",
		[SP_PROCESS_SIGNALED] = "signaled",   [SP_PROCESS_OOM] = "oom-killed",
		[SP_PROCESS_ENDED] = "ended",	      [SP_PROCESS_KILLED] = "killed",
		[SP_PROCESS_RUNNING] = "running",     [SP_PROCESS_STOPPED] = "stopped",
		[SP_PROCESS_DISK_FULL] = "disk-full",
	};

	return names[how];
}

/* False for a word that is damaged, or of a newer version. */
static bool read_ending(uint64_t word, struct sp_process_end *ret)
{
	ret->status = (unsigned)(word & 0xFF);
	ret->how = word >> 8 == SP_ENDING_EXITED     ? SP_PROCESS_EXITED
		   : word >> 8 == SP_ENDING_SIGNALED ? SP_PROCESS_SIGNALED
						     : SP_PROCESS_UNKNOWN;
	return ret->how != SP_PROCESS_UNKNOWN;
}

/* The marker is made before the run's first file, by a clock that may be another host's: another
 * time is damage. */
#define CLOCKS_APART_NS INT64_C(3600000000000)

static bool is_in_run(const struct sp_run_frame *marker, uint64_t after_ns, int64_t begin_ns)
{
	int64_t made_ns = (int64_t)marker->made_realtime_ns, at_ns;

	return made_ns > 0 && after_ns <= INT64_MAX &&
	       !__builtin_add_overflow(made_ns, (int64_t)after_ns, &at_ns) &&
	       made_ns - CLOCKS_APART_NS <= begin_ns && at_ns >= begin_ns - CLOCKS_APART_NS;
}

static bool read_marker(const struct sp_run_frame *marker, int64_t begin_ns,
			struct sp_command_end *ret)
{
	uint64_t pid, ending, after_ns, alive_ns;

	if (sp_checked_read(marker->command_pid, &pid) < 0 || !pid || pid > INT32_MAX)
		return false;
	ret->pid = (uint32_t)pid;
	if (sp_checked_read(marker->command_alive_ns, &alive_ns) == 0 && alive_ns &&
	    is_in_run(marker, alive_ns, begin_ns))
		ret->alive_ns = (int64_t)(marker->made_realtime_ns + alive_ns);
	if (sp_checked_read(marker->command_ending, &ending) < 0 ||
	    sp_checked_read(marker->command_ended_ns, &after_ns) < 0 ||
	    !read_ending(ending, &ret->end) || !is_in_run(marker, after_ns, begin_ns))
		return false;
	if (sp_checked_read(marker->oom_kills, &ret->oom_kills) < 0)
		ret->oom_kills = 0;
	ret->end.at_ns = (int64_t)(marker->made_realtime_ns + after_ns);
	if (ret->oom_kills && ret->end.how == SP_PROCESS_SIGNALED && ret->end.status == SIGKILL)
		ret->end.how = SP_PROCESS_OOM;
	return true;
}

struct sp_command_end sp_command_end_of(const struct sp_run *run)
{
	struct sp_command_end end = {.is_known = false, .alive_ns = INT64_MIN};

	for (uint32_t i = run->index.marked_from; !end.is_known && i < run->index.marked_to; i++)
		if (run->index.files[i].runs)
			end.is_known =
				read_marker(&run->index.files[i].marker, run->begin_ns, &end);
	return end;
}

/* The end of a process that left no ending, by the trace and the kernel. */
static enum sp_process_how how_of_silent(const struct sp_run *run, const struct sp_totals *totals,
					 uint32_t image, uint64_t lost_full)
{
	const struct sp_process_image *it = &run->index.images[image];

	if (totals->main_ends_ns[image] != INT64_MIN)
		return SP_PROCESS_ENDED;
	if (!sp_host_is_this(&run->index.hosts[it->host]) || !it->start_ns)
		return lost_full ? SP_PROCESS_DISK_FULL : SP_PROCESS_UNKNOWN;
	if (it->state)
		return it->state == 'T' || it->state == 't' ? SP_PROCESS_STOPPED
							    : SP_PROCESS_RUNNING;
	return lost_full ? SP_PROCESS_DISK_FULL : SP_PROCESS_KILLED;
}

uint32_t sp_process_living(const struct sp_run *run, const struct sp_totals *totals)
{
	for (uint32_t i = 0; i < run->index.image_count; i++) {
		enum sp_process_how how;

		if (run->index.images[i].is_sampler || run->index.images[i].ending)
			continue;
		how = how_of_silent(run, totals, i, 0);
		if (how == SP_PROCESS_RUNNING || how == SP_PROCESS_STOPPED)
			return run->index.images[i].pid;
	}
	return 0;
}

static bool is_over(enum sp_process_how how)
{
	return how == SP_PROCESS_KILLED || how == SP_PROCESS_UNKNOWN;
}

int64_t sp_command_seen_ns(const struct sp_run *run, const struct sp_totals *totals)
{
	struct sp_command_end command = sp_command_end_of(run);

	/* Asked for each trainer: the search is only for a launcher that was killed, too. */
	if (command.is_known || !command.pid)
		return INT64_MIN;
	for (uint32_t i = 0; i < run->index.image_count; i++)
		if (run->index.images[i].pid == command.pid && !run->index.images[i].ending &&
		    is_over(how_of_silent(run, totals, i, 0)))
			return command.alive_ns;
	return INT64_MIN;
}

void sp_process_end_seen(struct sp_process_end *end, int64_t seen_ns)
{
	if (!is_over(end->how) || seen_ns <= end->at_ns)
		return;
	end->at_ns = seen_ns;
	end->is_seen = true;
}

uint32_t sp_process_first(const struct sp_run *run)
{
	const struct sp_process_image *images = run->index.images;
	uint32_t first = 0;

	for (uint32_t i = 1; i < run->index.image_count; i++)
		if (!images[i].is_sampler && images[i].start_ns < images[first].start_ns)
			first = i;
	return first;
}

struct sp_process_end sp_process_end_of(const struct sp_run *run, const struct sp_totals *totals,
					uint32_t image)
{
	const struct sp_process_image *it = &run->index.images[image];
	struct sp_command_end command = sp_command_end_of(run);
	struct sp_process_end end = {.at_ns = INT64_MIN};
	uint64_t lost_full = it->process_lost;

	if (command.is_known && command.pid == it->pid)
		return command.end;
	for (uint32_t i = sp_index_first_stream(&run->index, image);
	     i < run->index.stream_count && run->index.streams[i]->image == image; i++) {
		int64_t end_ns = sp_stream_end_ns(run, totals, i);

		end.at_ns = end_ns > end.at_ns ? end_ns : end.at_ns;
		lost_full += run->index.streams[i]->lost_by[SP_LOST_FULL];
	}
	if (read_ending(it->ending, &end))
		return end;
	end.how = how_of_silent(run, totals, image, lost_full);
	if (command.pid == it->pid)
		sp_process_end_seen(&end, command.alive_ns);
	return end;
}
