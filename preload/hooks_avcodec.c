/*
 * libavcodec: one event a video frame, with the time of the packets sent since the frame before.
 * Decoders with threads of their own work outside these calls: the time is what the caller waited.
 * Offsets are LP64's, the same from FFmpeg 3 to 8: AVCodecContext begins with av_class,
 * log_level_offset, codec_type; AVFrame has eight planes, eight line sizes and one pointer before
 * width and height.
 */
#include "preload/decode.h"
#include "preload/hook.h"
#include "preload/resolve.h"

#define AV(name) SP_FOREIGN(name, "avcodec_", NULL)

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

/* The frame that the decoder works on, or NULL where the call is not to be recorded. */
static struct sp_image *frame_of(const struct sp_av_context *context, const void *real)
{
	struct sp_thread *t;
	struct sp_image *image;

	if (context->codec_type != 0)
		return NULL;
	t = sp_enter();
	if (!t)
		return NULL;
	image = sp_image_in(t, context);
	if (image)
		return image;
	sp_decode_cover("video", real);
	image = sp_image_place(t);
	*image = (struct sp_image){.object = context, .kind = SP_EV_video_frame};
	return image;
}

static uint64_t call_begin(struct sp_image *image)
{
	uint64_t now = sp_clock_ticks();

	if (image && !image->start)
		image->start = image->last = now;
	return now;
}

SP_HOOK(int, avcodec_send_packet, struct sp_av_context *context, const void *packet)
{
	__typeof__(&avcodec_send_packet) real = AV(avcodec_send_packet);
	struct sp_image *image = frame_of(context, (const void *)real);
	uint64_t start = call_begin(image);
	int ret = real(context, packet);

	if (image)
		sp_image_advance(image, context, start);
	return ret;
}

SP_HOOK(int, avcodec_receive_frame, struct sp_av_context *context, struct sp_av_frame *frame)
{
	__typeof__(&avcodec_receive_frame) real = AV(avcodec_receive_frame);
	struct sp_image *image = frame_of(context, (const void *)real);
	uint64_t start = call_begin(image);
	int ret = real(context, frame);

	if (!image || !sp_image_advance(image, context, start) || ret != 0)
		return ret;
	image->width = (uint32_t)frame->width;
	image->height = (uint32_t)frame->height;
	image->lines = image->height;
	sp_image_emit(sp_decode_thread(), image, SP_DECODE_FINISHED);
	*image = (struct sp_image){.object = context, .kind = SP_EV_video_frame};
	return ret;
}

/* What was sent for no frame goes with the decoder. */
SP_HOOK(void, avcodec_free_context, struct sp_av_context **context)
{
	struct sp_image *image = context ? sp_image_of(*context) : NULL;

	if (image && *context)
		image->object = NULL;
	AV(avcodec_free_context)(context);
}
