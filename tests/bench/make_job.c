/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_job FOLDER RANKS STEPS [PLANT...]: a made job (tests/unit/common/planted_job.h).
 *
 * PLANT is WHERE,NUMBER,FROM,PHASE,NS: rank, host or slot; the number of it; its first slow step;
 * loader, forward or backward; ns that the phase takes longer. Also: no-collectives, seed=N,
 * stages=N of a pipeline, strides for their ranks, ranks=FROM:TO to write only those, world=N,
 * later=NS for the begin of the job, skew=NS for the clock of host n, n times, noise=PERMILLE of
 * each phase, missing=RANK (again for more) of a job that stands still.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/planted_job.h"

static int word_of(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	fprintf(stderr, "make_job: %s?\n", word);
	exit(2);
}

static void add_plant(struct sp_planted_job *job, const char *text)
{
	static const char *const places[] = {"rank", "host", "slot", NULL};
	static const char *const phases[] = {"loader", "forward", "backward", NULL};
	char where[16], phase[16];
	unsigned number, from;
	unsigned long long ns;

	if (job->plant_count == SP_PLANTS_MAX ||
	    sscanf(text, "%15[a-z],%u,%u,%15[a-z],%llu", where, &number, &from, phase, &ns) != 5) {
		fprintf(stderr, "make_job: %s?\n", text);
		exit(2);
	}
	job->plants[job->plant_count++] =
		(struct sp_plant){.where = (enum sp_plant_where)word_of(where, places),
				  .number = number,
				  .from_step = from,
				  .phase = (enum sp_plant_phase)word_of(phase, phases),
				  .more_ns = ns};
}

int main(int argc, char **argv)
{
	struct sp_planted_job job;
	unsigned from = 0, to = UINT32_MAX;

	if (argc < 4)
		return 2;
	job = sp_planted_job((uint32_t)strtoul(argv[2], NULL, 10),
			     (uint32_t)strtoul(argv[3], NULL, 10));
	for (int i = 4; i < argc; i++) {
		if (strcmp(argv[i], "no-collectives") == 0)
			job.collective = NULL;
		else if (strcmp(argv[i], "strides") == 0)
			job.strides = true;
		else if (job.missing_count < SP_MISSING_MAX &&
			 sscanf(argv[i], "missing=%u", &job.missing[job.missing_count]) == 1)
			job.missing_count++;
		else if (sscanf(argv[i], "seed=%u", &job.seed) != 1 &&
			 sscanf(argv[i], "stages=%u", &job.stages) != 1 &&
			 sscanf(argv[i], "ranks=%u:%u", &from, &to) != 2 &&
			 sscanf(argv[i], "world=%u", &job.world) != 1 &&
			 sscanf(argv[i], "later=%" SCNd64, &job.later_ns) != 1 &&
			 sscanf(argv[i], "noise=%u", &job.noise_permille) != 1 &&
			 sscanf(argv[i], "skew=%" SCNd64, &job.host_skews_ns) != 1)
			add_plant(&job, argv[i]);
	}
	sp_planted_job_write(&job, argv[1], from, to);
	return 0;
}
