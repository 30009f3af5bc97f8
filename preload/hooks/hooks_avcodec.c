/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libavcodec: one event for each video frame, with the time of the packets sent since the
 * previous frame. Decoders with their own threads work outside these calls: the time is the
 * caller's wait. Offsets for LP64, the same from FFmpeg 3 to 8: AVCodecContext begins with
 * av_class, log_level_offset, codec_type; AVFrame has eight planes, eight line sizes and one
 * pointer before width and height.
 */
#include "preload/hooks/decode.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define AV(name) SP_ORIGINAL_FOR_CALLER(name, "avcodec_", NULL)

struct sp_av_context {
	const void *class;
	int log_level_offset;
	int codec_type; /* 0: video */
};

struct sp_av_frame {
	uint8_t *data[8];
	int linesize[8];
	uint8_t **extended_data;
	int width, height;
};

/* The frame in work, or NULL if the call is not recorded. */
static struct sp_picture *frame_of(const struct sp_av_context *context, const void *real)
{
	struct sp_thread *t;
	struct sp_picture *picture;

	if (context->codec_type != 0)
		return NULL;
	t = sp_enter();
	if (!t)
		return NULL;
	picture = sp_picture_in(t, context);
	if (picture)
		return picture;
	sp_decode_coverage("video", real);
	picture = sp_picture_slot(t);
	*picture = (struct sp_picture){.object = context, .kind = SP_EV_video_frame};
	return picture;
}

static uint64_t call_begin(struct sp_picture *picture)
{
	uint64_t now = sp_clock_ticks();

	if (picture && !picture->start)
		picture->start = picture->last = now;
	return now;
}

SP_HOOK(int, avcodec_send_packet, struct sp_av_context *context, const void *packet)
{
	__typeof__(&avcodec_send_packet) real = AV(avcodec_send_packet);
	struct sp_picture *picture = frame_of(context, (const void *)real);
	uint64_t start = call_begin(picture);
	int ret = real(context, packet);

	if (picture)
		sp_picture_advance(picture, context, start);
	return ret;
}

SP_HOOK(int, avcodec_receive_frame, struct sp_av_context *context, struct sp_av_frame *frame)
{
	__typeof__(&avcodec_receive_frame) real = AV(avcodec_receive_frame);
	struct sp_picture *picture = frame_of(context, (const void *)real);
	uint64_t start = call_begin(picture);
	int ret = real(context, frame);

	if (!picture || !sp_picture_advance(picture, context, start) || ret != 0)
		return ret;
	picture->width = (uint32_t)frame->width;
	picture->height = (uint32_t)frame->height;
	picture->lines = picture->height;
	sp_picture_emit(sp_decode_thread(), picture, SP_DECODE_FINISHED);
	*picture = (struct sp_picture){.object = context, .kind = SP_EV_video_frame};
	return ret;
}

/* Packets without a frame end with the decoder. */
SP_HOOK(void, avcodec_free_context, struct sp_av_context **context)
{
	struct sp_picture *picture = context ? sp_picture_of(*context) : NULL;

	if (picture && *context)
		picture->object = NULL;
	AV(avcodec_free_context)(context);
}
