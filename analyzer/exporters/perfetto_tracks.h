/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks of the Perfetto export.
 */
#ifndef STAGEPROF_ANALYZER_PERFETTO_TRACKS_H
#define STAGEPROF_ANALYZER_PERFETTO_TRACKS_H

#include "analyzer/exporters/perfetto_packet.h"

/* Descriptors of tracks; those of steps, lanes and streams of a GPU are written once each. */
int sp_perfetto_write_run(struct sp_perfetto *f);
int sp_perfetto_write_process(void *context, uint32_t process);
int sp_perfetto_write_track(void *context, uint32_t track);
int sp_perfetto_write_steps_track(struct sp_perfetto *f, const struct sp_tracks_step *step);
int sp_perfetto_write_lane(struct sp_perfetto *f, const struct sp_tracks_slice *slice);
int sp_perfetto_write_gpu_track(struct sp_perfetto *f, const struct sp_tracks_slice *slice);

uint64_t sp_perfetto_gpu_uuid(const struct sp_tracks_slice *slice);

#endif
