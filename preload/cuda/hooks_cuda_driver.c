/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver. Exported names are hooks like any other; results of lookups have a wrapper for
 * each address (cuda_driver.h). So each function here is a body with SP_DRIVER_FORMS entries.
 */
#include "preload/cuda/cuda_driver.h"

#include "preload/cuda/cuda.h"
#include "preload/cuda/cuda_launch.h"
#include "preload/cuda/cupti.h"

#define FORM(name, form, on, parameters, arguments)                                                \
	static int name##_form##form parameters                                                    \
	{                                                                                          \
		return name##_body(&name##_originals[form], __builtin_return_address(0),           \
				   SP_UNPACK arguments);                                           \
	}

/*
 * The same for launches, the most frequent calls; `on` is the stream. Inside a launch of the
 * runtime the arguments are passed on in place.
 */
#define FORM_OF_LAUNCH(name, form, on, parameters, arguments)                                      \
	static __attribute__((noinline)) int name##_outermost##form parameters                     \
	{                                                                                          \
		struct sp_thread *thread = sp_cuda_launch_enter();                                 \
		void *real = __atomic_load_n(&name##_originals[form], __ATOMIC_ACQUIRE);           \
                                                                                                   \
		if (sp_unlikely(!thread || !real))                                                 \
			return name##_body(&name##_originals[form], NULL, SP_UNPACK arguments);    \
		thread->layer_calls[SP_CUDA_CALLS].inner = (struct sp_object_range){0, 0};         \
		SP_CUDA_RETURN_LAUNCH(thread, real, SP_EV_##name, ON(on), parameters, arguments)   \
	}                                                                                          \
	static __attribute__((noinline, cold)) int name##_first##form parameters                   \
	{                                                                                          \
		void **original = &name##_originals[form];                                         \
                                                                                                   \
		return ((int(*) parameters)ORIGINAL_AT(original, name))arguments;                  \
	}                                                                                          \
	static int name##_form##form parameters                                                    \
	{                                                                                          \
		const struct sp_thread *t = sp_tls.thread;                                         \
		const struct sp_layer_call *open = t ? &t->layer_calls[SP_CUDA_CALLS] : NULL;      \
		void *original;                                                                    \
                                                                                                   \
		if (!open || !sp_cuda_is_open(open, sp_above_stack(open->frame)) ||                \
		    !sp_cuda_comes_from(open, __builtin_return_address(0)))                        \
			return name##_outermost##form arguments;                                   \
		original = __atomic_load_n(&name##_originals[form], __ATOMIC_ACQUIRE);             \
		if (sp_unlikely(!original))                                                        \
			return name##_first##form arguments;                                       \
		return ((int(*) parameters)original)arguments;                                     \
	}

/* `base` is the name for cuGetProcAddress, `exported` the name of the library's symbol. */
#define FUNCTION(id, base, version, exported0, exported1, parameters, arguments)                   \
	FUNCTION_OF(FORM, , id, base, version, exported0, exported1, parameters, arguments)
#define FUNCTION_OF(MAKE, on, id, base, version, exported0, exported1, parameters, arguments)      \
	MAKE(id, 0, on, parameters, arguments)                                                     \
	MAKE(id, 1, on, parameters, arguments)                                                     \
	MAKE(id, 2, on, parameters, arguments)                                                     \
	MAKE(id, 3, on, parameters, arguments)                                                     \
	MAKE(id, 4, on, parameters, arguments)                                                     \
	MAKE(id, 5, on, parameters, arguments)                                                     \
	static uint8_t id##_per_thread[SP_DRIVER_FORMS];                                           \
	static void *const id##_wrappers[SP_DRIVER_FORMS] = {(void *)id##_form0,                   \
							     (void *)id##_form1,                   \
							     (void *)id##_form2,                   \
							     (void *)id##_form3,                   \
							     (void *)id##_form4,                   \
							     (void *)id##_form5};                  \
	static const struct sp_driver_function id##_driver = {#base,                               \
							      version,                             \
							      {exported0, exported1},              \
							      id##_wrappers,                       \
							      id##_originals,                      \
							      id##_per_thread};                    \
	static const struct sp_driver_function *id##_listed                                        \
		__attribute__((section("sp_drivers"), used)) = &id##_driver;

/* An exported name that looks like a hook: its name is the library's. */
#define EXPORT(id, form, exported)                                                                 \
	extern __typeof__(id##_form##form) exported SP_EXPORT                                      \
		__attribute__((alias(#id "_form" #form)))

#define ORIGINAL_AT(original, id)                                                                  \
	(__atomic_load_n(original, __ATOMIC_ACQUIRE) ?: sp_cuda_driver_find(&id##_driver, original))

#define BODY(id, kind, arg, value, parameters, arguments)                                          \
	static void *id##_originals[SP_DRIVER_FORMS];                                              \
	static const struct sp_driver_function id##_driver;                                        \
	static __attribute__((noinline)) int id##_body(void **original, const void *caller,        \
						       SP_UNPACK parameters)                       \
	{                                                                                          \
		static const struct sp_driver_function *const driver = &id##_driver;               \
		static const struct sp_object_range inner = {0, 0};                                \
		void *real = ORIGINAL_AT(original, id);                                            \
		SP_CUDA_CALL(call, SP_CUDA_CALLS, &inner, caller, SP_EV_##kind, arg);              \
		int ret = ((int(*) parameters)real)arguments;                                      \
                                                                                                   \
		(void)driver;                                                                      \
		sp_cuda_end(&call, value, caller);                                                 \
		sp_cuda_after(call_thread, SP_EV_##kind, ret);                                     \
		return ret;                                                                        \
	}

/* A function whose name never changed, and its form for per-thread default streams. */
#define DRIVER(name, version, suffix, kind, arg, value, parameters, arguments)                     \
	BODY(name, kind, arg, value, parameters, arguments)                                        \
	FUNCTION(name, name, version, #name, #name #suffix, parameters, arguments)                 \
	EXPORT(name, 0, name);                                                                     \
	EXPORT(name, 1, name##suffix);
#define DRIVER_LAUNCH(name, version, suffix, on, parameters, arguments)                            \
	BODY(name, name, ARG_WITH_WORK(on), RET_STATUS, parameters, arguments)                     \
	FUNCTION_OF(FORM_OF_LAUNCH, on, name, name, version, #name, #name #suffix, parameters,     \
		    arguments)                                                                     \
	EXPORT(name, 0, name);                                                                     \
	EXPORT(name, 1, name##suffix);
/* A function whose present ABI is exported as _v2. */
#define DRIVER_V2(name, version, suffix, kind, arg, value, parameters, arguments)                  \
	BODY(name, kind, arg, value, parameters, arguments)                                        \
	FUNCTION(name, name, version, #name "_v2", #name "_v2" #suffix, parameters, arguments)     \
	EXPORT(name, 0, name##_v2);                                                                \
	EXPORT(name, 1, name##_v2##suffix);
/* A further ABI of a function: its name for cuGetProcAddress is the first ABI's. */
#define DRIVER_ALSO(exported, base, version, suffix, kind, arg, value, parameters, arguments)      \
	BODY(exported, kind, arg, value, parameters, arguments)                                    \
	FUNCTION(exported, base, version, #exported, #exported #suffix, parameters, arguments)     \
	EXPORT(exported, 0, exported);                                                             \
	EXPORT(exported, 1, exported##suffix);
/* Functions without a stream. */
#define DRIVER_ONE_ALSO(exported, base, version, kind, arg, value, parameters, arguments)          \
	BODY(exported, kind, arg, value, parameters, arguments)                                    \
	FUNCTION(exported, base, version, #exported, NULL, parameters, arguments)                  \
	EXPORT(exported, 0, exported);
#define DRIVER_ONE(name, version, exported, kind, arg, value, parameters, arguments)               \
	BODY(name, kind, arg, value, parameters, arguments)                                        \
	FUNCTION(name, name, version, #exported, NULL, parameters, arguments)                      \
	EXPORT(name, 0, exported);

#define ON(stream) sp_cuda_arg_make((uintptr_t)(stream), 0, 0)
/* BEGIN_WORK_OF_HOOK and *_WITH_WORK read `driver` and `original` of the BODY. */
#define BEGIN_WORK_OF_HOOK(stream)                                                                 \
	SP_CUDA_TIME_WORK((uintptr_t)(stream), sp_cuda_driver_is_per_thread(driver, original))
#define ARG_WITH_WORK(stream) (BEGIN_WORK_OF_HOOK(stream), ON(stream))
#define COPY_ARG_WITH_WORK(stream, direction, to, from)                                            \
	(BEGIN_WORK_OF_HOOK(stream),                                                               \
	 sp_cuda_copy_arg(stream, SP_COPY_##direction, (const void *)(to), (const void *)(from)))

/* Launches */
#if defined(__x86_64__)
/* The arguments on the stack, as one structure: they stay in place when the call goes on, because
 * gcc moves single words. */
struct launch_stack {
	uint64_t bz, shared_bytes;
	void *stream, **parameters, **extra;
};
DRIVER_LAUNCH(cuLaunchKernel, 4000, _ptsz, stack.stream,
	      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	       struct launch_stack stack),
	      (function, gx, gy, gz, bx, by, stack))
#else
DRIVER_LAUNCH(cuLaunchKernel, 4000, _ptsz, stream,
	      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	       unsigned bz, unsigned shared_bytes, void *stream, void **parameters, void **extra),
	      (function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, extra))
#endif
DRIVER_LAUNCH(cuLaunchKernelEx, 11060, _ptsz, (config ? config->stream : NULL),
	      (const struct sp_cuda_driver_launch_config *config, void *function, void **parameters,
	       void **extra),
	      (config, function, parameters, extra))
DRIVER(cuLaunchCooperativeKernel, 9000, _ptsz, cuLaunchCooperativeKernel, ARG_WITH_WORK(stream),
       RET_STATUS,
       (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared_bytes, void *stream, void **parameters),
       (function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters))
DRIVER_ONE(cuLaunchCooperativeKernelMultiDevice, 9000, cuLaunchCooperativeKernelMultiDevice,
	   cuLaunchCooperativeKernel, 0, RET_STATUS, (void *list, unsigned devices, unsigned flags),
	   (list, devices, flags))
DRIVER_ONE(cuLaunch, 2000, cuLaunch, cuLaunchKernel, ARG_WITH_WORK(NULL), RET_STATUS,
	   (void *function), (function))
DRIVER_ONE(cuLaunchGrid, 2000, cuLaunchGrid, cuLaunchKernel, ARG_WITH_WORK(NULL), RET_STATUS,
	   (void *function, int width, int height), (function, width, height))
DRIVER_ONE(cuLaunchGridAsync, 2000, cuLaunchGridAsync, cuLaunchKernel, ARG_WITH_WORK(stream),
	   RET_STATUS, (void *function, int width, int height, void *stream),
	   (function, width, height, stream))
DRIVER(cuGraphLaunch, 10000, _ptsz, cuGraphLaunch,
       (sp_cuda_time_graph_launch(), ARG_WITH_WORK(stream)), RET_STATUS,
       (void *graph, void *stream), (graph, stream))

/* Copies */
DRIVER(cuMemcpy, 4000, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, UNKNOWN, to, from),
       RET_OR_BYTES(bytes), (uint64_t to, uint64_t from, size_t bytes), (to, from, bytes))
DRIVER(cuMemcpyAsync, 4000, _ptsz, cuMemcpyAsync, COPY_ARG_WITH_WORK(stream, UNKNOWN, to, from),
       RET_OR_BYTES(bytes), (uint64_t to, uint64_t from, size_t bytes, void *stream),
       (to, from, bytes, stream))
DRIVER(cuMemcpyPeer, 4000, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, ON_DEVICE, to, from),
       RET_OR_BYTES(bytes),
       (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes),
       (to, to_context, from, from_context, bytes))
DRIVER(cuMemcpyPeerAsync, 4000, _ptsz, cuMemcpyAsync,
       COPY_ARG_WITH_WORK(stream, ON_DEVICE, to, from), RET_OR_BYTES(bytes),
       (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes,
	void *stream),
       (to, to_context, from, from_context, bytes, stream))
DRIVER_V2(cuMemcpyHtoD, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, TO_DEVICE, to, from),
	  RET_OR_BYTES(bytes), (uint64_t to, const void *from, size_t bytes), (to, from, bytes))
DRIVER_V2(cuMemcpyDtoH, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, TO_HOST, to, from),
	  RET_OR_BYTES(bytes), (void *to, uint64_t from, size_t bytes), (to, from, bytes))
DRIVER_V2(cuMemcpyDtoD, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, ON_DEVICE, to, from),
	  RET_OR_BYTES(bytes), (uint64_t to, uint64_t from, size_t bytes), (to, from, bytes))
DRIVER_V2(cuMemcpyHtoDAsync, 3020, _ptsz, cuMemcpyAsync,
	  COPY_ARG_WITH_WORK(stream, TO_DEVICE, to, from), RET_OR_BYTES(bytes),
	  (uint64_t to, const void *from, size_t bytes, void *stream), (to, from, bytes, stream))
DRIVER_V2(cuMemcpyDtoHAsync, 3020, _ptsz, cuMemcpyAsync,
	  COPY_ARG_WITH_WORK(stream, TO_HOST, to, from), RET_OR_BYTES(bytes),
	  (void *to, uint64_t from, size_t bytes, void *stream), (to, from, bytes, stream))
DRIVER_V2(cuMemcpyDtoDAsync, 3020, _ptsz, cuMemcpyAsync,
	  COPY_ARG_WITH_WORK(stream, ON_DEVICE, to, from), RET_OR_BYTES(bytes),
	  (uint64_t to, uint64_t from, size_t bytes, void *stream), (to, from, bytes, stream))

/* Arrays are the device's. */
DRIVER_V2(cuMemcpyHtoA, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, TO_DEVICE, 0, from),
	  RET_OR_BYTES(bytes), (void *array, size_t offset, const void *from, size_t bytes),
	  (array, offset, from, bytes))
DRIVER_V2(cuMemcpyAtoH, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, TO_HOST, to, 0),
	  RET_OR_BYTES(bytes), (void *to, void *array, size_t offset, size_t bytes),
	  (to, array, offset, bytes))
DRIVER_V2(cuMemcpyDtoA, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, ON_DEVICE, 0, from),
	  RET_OR_BYTES(bytes), (void *array, size_t offset, uint64_t from, size_t bytes),
	  (array, offset, from, bytes))
DRIVER_V2(cuMemcpyAtoD, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, ON_DEVICE, to, 0),
	  RET_OR_BYTES(bytes), (uint64_t to, void *array, size_t offset, size_t bytes),
	  (to, array, offset, bytes))
DRIVER_V2(cuMemcpyAtoA, 3020, _ptds, cuMemcpy, COPY_ARG_WITH_WORK(NULL, ON_DEVICE, 0, 0),
	  RET_OR_BYTES(bytes),
	  (void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes),
	  (to, to_offset, from, from_offset, bytes))
DRIVER_V2(cuMemcpyHtoAAsync, 3020, _ptsz, cuMemcpyAsync,
	  COPY_ARG_WITH_WORK(stream, TO_DEVICE, 0, from), RET_OR_BYTES(bytes),
	  (void *array, size_t offset, const void *from, size_t bytes, void *stream),
	  (array, offset, from, bytes, stream))
DRIVER_V2(cuMemcpyAtoHAsync, 3020, _ptsz, cuMemcpyAsync, COPY_ARG_WITH_WORK(stream, TO_HOST, to, 0),
	  RET_OR_BYTES(bytes), (void *to, void *array, size_t offset, size_t bytes, void *stream),
	  (to, array, offset, bytes, stream))

/* CUDA 13's form has no argument for the failed copy. */
#define BATCH_ARG_WITH_WORK(stream, to, from, count)                                               \
	(BEGIN_WORK_OF_HOOK(stream),                                                               \
	 sp_cuda_copy_arg(stream, SP_COPY_UNKNOWN, count && to ? (const void *)to[0] : NULL,       \
			  count && from ? (const void *)from[0] : NULL))
DRIVER(cuMemcpyBatchAsync, 12080, _ptsz, cuMemcpyAsync,
       BATCH_ARG_WITH_WORK(stream, to, from, count), RET_OR_BYTES(sp_cuda_bytes_of(sizes, count)),
       (const uint64_t *to, const uint64_t *from, const size_t *sizes, size_t count,
	void *attributes, size_t *indices, size_t attribute_count, size_t *failed, void *stream),
       (to, from, sizes, count, attributes, indices, attribute_count, failed, stream))
DRIVER_ALSO(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync, 13000, _ptsz, cuMemcpyAsync,
	    BATCH_ARG_WITH_WORK(stream, to, from, count),
	    RET_OR_BYTES(sp_cuda_bytes_of(sizes, count)),
	    (const uint64_t *to, const uint64_t *from, const size_t *sizes, size_t count,
	     void *attributes, size_t *indices, size_t attribute_count, void *stream),
	    (to, from, sizes, count, attributes, indices, attribute_count, stream))
#define BATCH_3D_ARG_WITH_WORK(stream)                                                             \
	(BEGIN_WORK_OF_HOOK(stream), sp_cuda_arg_make((uintptr_t)(stream), SP_COPY_UNKNOWN, 0))
DRIVER(cuMemcpy3DBatchAsync, 12080, _ptsz, cuMemcpyAsync, BATCH_3D_ARG_WITH_WORK(stream),
       RET_OR_BYTES(sp_cuda_bytes_of_3d(copies, count)),
       (size_t count, const struct sp_cuda_copy_3d_batch *copies, size_t *failed,
	unsigned long long flags, void *stream),
       (count, copies, failed, flags, stream))
DRIVER_ALSO(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync, 13000, _ptsz, cuMemcpyAsync,
	    BATCH_3D_ARG_WITH_WORK(stream), RET_OR_BYTES(sp_cuda_bytes_of_3d(copies, count)),
	    (size_t count, const struct sp_cuda_copy_3d_batch *copies, unsigned long long flags,
	     void *stream),
	    (count, copies, flags, stream))

DRIVER(cuMemcpyWithAttributesAsync, 13020, _ptsz, cuMemcpyAsync,
       COPY_ARG_WITH_WORK(stream, UNKNOWN, to, from), RET_OR_BYTES(bytes),
       (uint64_t to, uint64_t from, size_t bytes, void *attributes, void *stream),
       (to, from, bytes, attributes, stream))
DRIVER(cuMemcpy3DWithAttributesAsync, 13020, _ptsz, cuMemcpyAsync, BATCH_3D_ARG_WITH_WORK(stream),
       RET_OR_BYTES(sp_cuda_bytes_of_3d(copy, 1)),
       (const struct sp_cuda_copy_3d_batch *copy, unsigned long long flags, void *stream),
       (copy, flags, stream))

/* 0: host, 1: device, as cudaMemcpyKind is made of two of them. */
static uint32_t copy_arg(const void *stream, unsigned to_type, const void *to_host,
			 uint64_t to_device, unsigned from_type, const void *from_host,
			 uint64_t from_device)
{
	static const int directions[2][2] = {{SP_COPY_HOST_TO_HOST, SP_COPY_TO_HOST},
					     {SP_COPY_TO_DEVICE, SP_COPY_ON_DEVICE}};
	const void *to = to_type == SP_CUDA_TYPE_HOST ? to_host : (const void *)to_device;
	const void *from = from_type == SP_CUDA_TYPE_HOST ? from_host : (const void *)from_device;

	if (to_type == SP_CUDA_TYPE_UNIFIED || from_type == SP_CUDA_TYPE_UNIFIED)
		return sp_cuda_copy_arg(stream, SP_COPY_UNKNOWN, to, from);
	return sp_cuda_copy_arg(
		stream, directions[to_type != SP_CUDA_TYPE_HOST][from_type != SP_CUDA_TYPE_HOST],
		to, from);
}

#define COPY_OF_WITH_WORK(stream, p)                                                               \
	(BEGIN_WORK_OF_HOOK(stream),                                                               \
	 p ? copy_arg(stream, p->target_type, p->target_host, p->target_device, p->source_type,    \
		      p->source_host, p->source_device)                                            \
	   : 0)

DRIVER_V2(cuMemcpy2D, 3020, _ptds, cuMemcpy, COPY_OF_WITH_WORK(NULL, p),
	  RET_OR_BYTES(p->width_bytes * p->height), (const struct sp_cuda_driver_copy_2d *p), (p))
DRIVER_V2(cuMemcpy2DUnaligned, 3020, _ptds, cuMemcpy, COPY_OF_WITH_WORK(NULL, p),
	  RET_OR_BYTES(p->width_bytes * p->height), (const struct sp_cuda_driver_copy_2d *p), (p))
DRIVER_V2(cuMemcpy2DAsync, 3020, _ptsz, cuMemcpyAsync, COPY_OF_WITH_WORK(stream, p),
	  RET_OR_BYTES(p->width_bytes * p->height),
	  (const struct sp_cuda_driver_copy_2d *p, void *stream), (p, stream))
DRIVER_V2(cuMemcpy3D, 3020, _ptds, cuMemcpy, COPY_OF_WITH_WORK(NULL, p),
	  RET_OR_BYTES(p->width_bytes * p->height * p->depth),
	  (const struct sp_cuda_driver_copy_3d *p), (p))
DRIVER_V2(cuMemcpy3DAsync, 3020, _ptsz, cuMemcpyAsync, COPY_OF_WITH_WORK(stream, p),
	  RET_OR_BYTES(p->width_bytes * p->height * p->depth),
	  (const struct sp_cuda_driver_copy_3d *p, void *stream), (p, stream))
/* This form has contexts where the other form has none. */
DRIVER(cuMemcpy3DPeer, 4000, _ptds, cuMemcpy,
       (BEGIN_WORK_OF_HOOK(NULL), sp_cuda_copy_arg(NULL, SP_COPY_ON_DEVICE, NULL, NULL)),
       RET_OR_BYTES(p->width_bytes * p->height * p->depth),
       (const struct sp_cuda_driver_copy_3d *p), (p))
DRIVER(cuMemcpy3DPeerAsync, 4000, _ptsz, cuMemcpyAsync,
       (BEGIN_WORK_OF_HOOK(stream), sp_cuda_copy_arg(stream, SP_COPY_ON_DEVICE, NULL, NULL)),
       RET_OR_BYTES(p->width_bytes * p->height * p->depth),
       (const struct sp_cuda_driver_copy_3d *p, void *stream), (p, stream))

/* Memory set */
DRIVER_V2(cuMemsetD8, 3020, _ptds, cuMemset, 0, RET_OR_BYTES(count),
	  (uint64_t to, unsigned char value, size_t count), (to, value, count))
DRIVER_V2(cuMemsetD16, 3020, _ptds, cuMemset, 0, RET_OR_BYTES(count * 2),
	  (uint64_t to, unsigned short value, size_t count), (to, value, count))
DRIVER_V2(cuMemsetD32, 3020, _ptds, cuMemset, 0, RET_OR_BYTES(count * 4),
	  (uint64_t to, unsigned value, size_t count), (to, value, count))
DRIVER_V2(cuMemsetD2D8, 3020, _ptds, cuMemset, 0, RET_OR_BYTES(width *height),
	  (uint64_t to, size_t pitch, unsigned char value, size_t width, size_t height),
	  (to, pitch, value, width, height))
DRIVER_V2(cuMemsetD2D16, 3020, _ptds, cuMemset, 0, RET_OR_BYTES(width *height * 2),
	  (uint64_t to, size_t pitch, unsigned short value, size_t width, size_t height),
	  (to, pitch, value, width, height))
DRIVER_V2(cuMemsetD2D32, 3020, _ptds, cuMemset, 0, RET_OR_BYTES(width *height * 4),
	  (uint64_t to, size_t pitch, unsigned value, size_t width, size_t height),
	  (to, pitch, value, width, height))
DRIVER(cuMemsetD8Async, 3020, _ptsz, cuMemsetAsync, ARG_WITH_WORK(stream), RET_OR_BYTES(count),
       (uint64_t to, unsigned char value, size_t count, void *stream), (to, value, count, stream))
DRIVER(cuMemsetD16Async, 3020, _ptsz, cuMemsetAsync, ARG_WITH_WORK(stream), RET_OR_BYTES(count * 2),
       (uint64_t to, unsigned short value, size_t count, void *stream), (to, value, count, stream))
DRIVER(cuMemsetD32Async, 3020, _ptsz, cuMemsetAsync, ARG_WITH_WORK(stream), RET_OR_BYTES(count * 4),
       (uint64_t to, unsigned value, size_t count, void *stream), (to, value, count, stream))
DRIVER(cuMemsetD2D8Async, 3020, _ptsz, cuMemsetAsync, ARG_WITH_WORK(stream),
       RET_OR_BYTES(width *height),
       (uint64_t to, size_t pitch, unsigned char value, size_t width, size_t height, void *stream),
       (to, pitch, value, width, height, stream))
DRIVER(cuMemsetD2D16Async, 3020, _ptsz, cuMemsetAsync, ARG_WITH_WORK(stream),
       RET_OR_BYTES(width *height * 2),
       (uint64_t to, size_t pitch, unsigned short value, size_t width, size_t height, void *stream),
       (to, pitch, value, width, height, stream))
DRIVER(cuMemsetD2D32Async, 3020, _ptsz, cuMemsetAsync, ARG_WITH_WORK(stream),
       RET_OR_BYTES(width *height * 4),
       (uint64_t to, size_t pitch, unsigned value, size_t width, size_t height, void *stream),
       (to, pitch, value, width, height, stream))

/* Waits, and what orders streams */
DRIVER(cuStreamSynchronize, 2000, _ptsz, cuStreamSynchronize, ON(stream), RET_STATUS,
       (void *stream), (stream))
/* cuCtxSynchronize has no parameter, and ignores the register. */
DRIVER_ONE(cuCtxSynchronize, 2000, cuCtxSynchronize, cuCtxSynchronize, 0, RET_STATUS,
	   (void *nothing), (nothing))
DRIVER_ONE_ALSO(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, cuCtxSynchronize, 0, RET_STATUS,
		(void *context), (context))
DRIVER_ONE(cuEventSynchronize, 2000, cuEventSynchronize, cuEventSynchronize, 0, RET_STATUS,
	   (void *event), (event))
DRIVER(cuStreamQuery, 2000, _ptsz, cuStreamQuery, ON(stream), RET_QUERIED, (void *stream), (stream))
DRIVER_ONE(cuEventQuery, 2000, cuEventQuery, cuEventQuery, 0, RET_QUERIED, (void *event), (event))
DRIVER(cuEventRecord, 2000, _ptsz, cuEventRecord, ON(stream), RET_STATUS,
       (void *event, void *stream), (event, stream))
DRIVER(cuEventRecordWithFlags, 11010, _ptsz, cuEventRecord, ON(stream), RET_STATUS,
       (void *event, void *stream, unsigned flags), (event, stream, flags))
DRIVER(cuStreamWaitEvent, 3020, _ptsz, cuStreamWaitEvent, ON(stream), RET_STATUS,
       (void *stream, void *event, unsigned flags), (stream, event, flags))
DRIVER(cuLaunchHostFunc, 10000, _ptsz, cuLaunchHostFunc, ON(stream), RET_STATUS,
       (void *stream, void (*function)(void *), void *data), (stream, function, data))
DRIVER_ALSO(cuLaunchHostFunc_v2, cuLaunchHostFunc, 13010, _ptsz, cuLaunchHostFunc, ON(stream),
	    RET_STATUS, (void *stream, void (*function)(void *), void *data, unsigned mode),
	    (stream, function, data, mode))
DRIVER(cuStreamAddCallback, 5000, _ptsz, cuLaunchHostFunc, ON(stream), RET_STATUS,
       (void *stream, void (*function)(void *, int, void *), void *data, unsigned flags),
       (stream, function, data, flags))
/* Calls for all streams of a context. */
DRIVER_ONE(cuCtxRecordEvent, 12050, cuCtxRecordEvent, cuEventRecord, 0, RET_STATUS,
	   (void *context, void *event), (context, event))
DRIVER_ONE(cuGreenCtxRecordEvent, 12040, cuGreenCtxRecordEvent, cuEventRecord, 0, RET_STATUS,
	   (void *context, void *event), (context, event))
DRIVER_ONE(cuCtxWaitEvent, 12050, cuCtxWaitEvent, cuStreamWaitEvent, 0, RET_STATUS,
	   (void *context, void *event), (context, event))
DRIVER_ONE(cuGreenCtxWaitEvent, 12040, cuGreenCtxWaitEvent, cuStreamWaitEvent, 0, RET_STATUS,
	   (void *context, void *event), (context, event))
DRIVER(cuSignalExternalSemaphoresAsync, 10000, _ptsz, cuSignalExternalSemaphoresAsync, ON(stream),
       RET_STATUS, (const void *semaphores, const void *what, unsigned count, void *stream),
       (semaphores, what, count, stream))
DRIVER(cuWaitExternalSemaphoresAsync, 10000, _ptsz, cuWaitExternalSemaphoresAsync, ON(stream),
       RET_STATUS, (const void *semaphores, const void *what, unsigned count, void *stream),
       (semaphores, what, count, stream))
DRIVER(cuStreamAttachMemAsync, 6000, _ptsz, cuStreamAttachMemAsync, ON(stream), RET_STATUS,
       (void *stream, uint64_t address, size_t bytes, unsigned flags),
       (stream, address, bytes, flags))

/* Calls that prepare a graph for its launch. */
DRIVER_ONE(cuGraphInstantiate, 10000, cuGraphInstantiate, cuGraphInstantiate, 0, RET_STATUS,
	   (void **instance, void *graph, void **node, char *log, size_t log_bytes),
	   (instance, graph, node, log, log_bytes))
DRIVER_ONE_ALSO(cuGraphInstantiate_v2, cuGraphInstantiate, 11000, cuGraphInstantiate, 0, RET_STATUS,
		(void **instance, void *graph, void **node, char *log, size_t log_bytes),
		(instance, graph, node, log, log_bytes))
DRIVER_ONE(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags, cuGraphInstantiate, 0,
	   RET_STATUS, (void **instance, void *graph, unsigned long long flags),
	   (instance, graph, flags))
DRIVER(cuGraphInstantiateWithParams, 12000, _ptsz, cuGraphInstantiate, 0, RET_STATUS,
       (void **instance, void *graph, void *how), (instance, graph, how))
DRIVER(cuGraphUpload, 11010, _ptsz, cuGraphUpload, ON(stream), RET_STATUS,
       (void *instance, void *stream), (instance, stream))
DRIVER_ONE(cuGraphExecUpdate, 10020, cuGraphExecUpdate, cuGraphExecUpdate, 0, RET_STATUS,
	   (void *instance, void *graph, void **node, void *result),
	   (instance, graph, node, result))
DRIVER_ONE_ALSO(cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000, cuGraphExecUpdate, 0, RET_STATUS,
		(void *instance, void *graph, void *result), (instance, graph, result))
DRIVER_V2(cuStreamBeginCapture, 10010, _ptsz, cuStreamBeginCapture,
	  sp_cuda_arg_with_capture(stream, mode), RET_STATUS, (void *stream, int mode),
	  (stream, mode))
DRIVER(cuStreamBeginCaptureToGraph, 12030, _ptsz, cuStreamBeginCapture,
       sp_cuda_arg_with_capture(stream, mode), RET_STATUS,
       (void *stream, void *graph, const void *dependencies, const void *data, size_t count,
	int mode),
       (stream, graph, dependencies, data, count, mode))
DRIVER(cuStreamEndCapture, 10000, _ptsz, cuStreamEndCapture, ON(stream), RET_STATUS,
       (void *stream, void **graph), (stream, graph))

/* Ends of streams and contexts */
DRIVER_ONE(cuStreamDestroy, 2000, cuStreamDestroy_v2, cuStreamDestroy,
	   (sp_cuda_time_drop_stream((uintptr_t)stream), ON(stream)), RET_STATUS, (void *stream),
	   (stream))
DRIVER_ONE(cuCtxDestroy, 2000, cuCtxDestroy_v2, cuCtxDestroy, sp_cuda_arg_with_drop(), RET_STATUS,
	   (void *context), (context))
DRIVER_ONE(cuCtxDetach, 2000, cuCtxDetach, cuCtxDestroy, sp_cuda_arg_with_drop(), RET_STATUS,
	   (void *context), (context))
/* The context's streams are unusable from now on; device memory belongs to the primary context. */
DRIVER_ONE(cuGreenCtxDestroy, 12040, cuGreenCtxDestroy, cuGreenCtxDestroy, sp_cuda_arg_with_drop(),
	   RET_STATUS, (void *context), (context))
DRIVER_ONE(cuDevicePrimaryCtxReset, 7000, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset,
	   sp_cuda_arg_with_drop(), RET_STATUS, (int device), (device))
DRIVER_ONE(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease,
	   sp_cuda_arg_with_drop(), RET_STATUS, (int device), (device))

/* Memory */
#define RET_DEVICE(address, bytes)                                                                 \
	sp_cuda_memory_made(&call, SP_CUDA_DEVICE, ret, ret ? 0 : *(address), bytes)
#define RET_PINNED(address, bytes)                                                                 \
	sp_cuda_memory_made(&call, SP_CUDA_PINNED, ret, ret ? 0 : (uint64_t) * (address), bytes)

DRIVER_ONE(cuMemAlloc, 3020, cuMemAlloc_v2, cuMemAlloc, 0, RET_DEVICE(address, bytes),
	   (uint64_t * address, size_t bytes), (address, bytes))
DRIVER_ONE(cuMemAllocPitch, 3020, cuMemAllocPitch_v2, cuMemAlloc, 0,
	   RET_DEVICE(address, ret ? 0 : *pitch *height),
	   (uint64_t * address, size_t *pitch, size_t width, size_t height, unsigned element),
	   (address, pitch, width, height, element))
DRIVER_ONE(cuMemAllocManaged, 6000, cuMemAllocManaged, cuMemAlloc, 0, RET_DEVICE(address, bytes),
	   (uint64_t * address, size_t bytes, unsigned flags), (address, bytes, flags))
DRIVER(cuMemAllocAsync, 11020, _ptsz, cuMemAllocAsync, 0, RET_DEVICE(address, bytes),
       (uint64_t * address, size_t bytes, void *stream), (address, bytes, stream))
DRIVER(cuMemAllocFromPoolAsync, 11020, _ptsz, cuMemAllocAsync, 0, RET_DEVICE(address, bytes),
       (uint64_t * address, size_t bytes, void *pool, void *stream), (address, bytes, pool, stream))
DRIVER_ONE(cuMemHostAlloc, 2020, cuMemHostAlloc, cuMemHostAlloc, 0, RET_PINNED(address, bytes),
	   (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
DRIVER_ONE(cuMemAllocHost, 3020, cuMemAllocHost_v2, cuMemHostAlloc, 0, RET_PINNED(address, bytes),
	   (void **address, size_t bytes), (address, bytes))
DRIVER_ONE(cuMemHostRegister, 4000, cuMemHostRegister_v2, cuMemHostRegister, 0,
	   sp_cuda_memory_made(&call, SP_CUDA_PINNED, ret, (uint64_t)address, bytes),
	   (void *address, size_t bytes, unsigned flags), (address, bytes, flags))
/* Physical memory; its addresses are reserved separately. */
DRIVER_ONE(cuMemCreate, 10020, cuMemCreate, cuMemCreate, 0,
	   (ret || !call.span.thread ? (void)0 : sp_cuda_made(&call, (const void *)(*handle << 8)),
	    RET_OR_BYTES(bytes)),
	   (uint64_t * handle, size_t bytes, const void *properties, unsigned long long flags),
	   (handle, bytes, properties, flags))
DRIVER_ONE(cuMemFree, 3020, cuMemFree_v2, cuMemFree, sp_cuda_memory_freed(SP_CUDA_DEVICE, address),
	   RET_STATUS, (uint64_t address), (address))
DRIVER(cuMemFreeAsync, 11020, _ptsz, cuMemFreeAsync, sp_cuda_memory_freed(SP_CUDA_DEVICE, address),
       RET_STATUS, (uint64_t address, void *stream), (address, stream))
DRIVER_ONE(cuMemFreeHost, 2000, cuMemFreeHost, cuMemFreeHost,
	   sp_cuda_memory_freed(SP_CUDA_PINNED, (uint64_t)address), RET_STATUS, (void *address),
	   (address))
DRIVER_ONE(cuMemHostUnregister, 4000, cuMemHostUnregister, cuMemHostUnregister,
	   sp_cuda_memory_freed(SP_CUDA_PINNED, (uint64_t)address), RET_STATUS, (void *address),
	   (address))
DRIVER_ONE(cuMemRelease, 10020, cuMemRelease, cuMemRelease, (uint32_t)handle, RET_STATUS,
	   (uint64_t handle), (handle))

/* Memory that pools hold is freed. */
DRIVER_ONE(cuMemPoolTrimTo, 11020, cuMemPoolTrimTo, cuMemPoolTrimTo, 0, RET_STATUS,
	   (void *pool, size_t kept_bytes), (pool, kept_bytes))
DRIVER_ONE(cuMemPoolDestroy, 11020, cuMemPoolDestroy, cuMemPoolTrimTo, 0, RET_STATUS, (void *pool),
	   (pool))
DRIVER_ONE(cuDeviceGraphMemTrim, 11040, cuDeviceGraphMemTrim, cuMemPoolTrimTo, 0, RET_STATUS,
	   (int device), (device))

/* Functions without an event. */
#define UNRECORDED(id, after, parameters, arguments)                                               \
	static void *id##_originals[SP_DRIVER_FORMS];                                              \
	static const struct sp_driver_function id##_driver;                                        \
	static int id##_body(void **original, const void *caller, SP_UNPACK parameters)            \
	{                                                                                          \
		int ret = ((int(*) parameters)ORIGINAL_AT(original, id))arguments;                 \
                                                                                                   \
		(void)caller;                                                                      \
		if (ret == 0)                                                                      \
			after;                                                                     \
		return ret;                                                                        \
	}

/* All further calls need the driver: CUPTI may be loaded here, as NVIDIA's own injection is. */
UNRECORDED(cuInit, (sp_cupti_attach(), sp_cuda_time_bind(), sp_cuda_slow_bind()), (unsigned flags),
	   (flags))
FUNCTION(cuInit, cuInit, 2000, "cuInit", NULL, (unsigned flags), (flags))
EXPORT(cuInit, 0, cuInit);

/* PyTorch's expandable segments: one range of addresses, mapped piece by piece. */
UNRECORDED(cuMemAddressReserve, sp_cuda_memory_add(SP_CUDA_DEVICE, (const void *)*address, bytes),
	   (uint64_t * address, size_t bytes, size_t alignment, uint64_t wanted,
	    unsigned long long flags),
	   (address, bytes, alignment, wanted, flags))
FUNCTION(cuMemAddressReserve, cuMemAddressReserve, 10020, "cuMemAddressReserve", NULL,
	 (uint64_t * address, size_t bytes, size_t alignment, uint64_t wanted,
	  unsigned long long flags),
	 (address, bytes, alignment, wanted, flags))
EXPORT(cuMemAddressReserve, 0, cuMemAddressReserve);
UNRECORDED(cuMemAddressFree, sp_cuda_memory_remove(SP_CUDA_DEVICE, (const void *)address),
	   (uint64_t address, size_t bytes), (address, bytes))
FUNCTION(cuMemAddressFree, cuMemAddressFree, 10020, "cuMemAddressFree", NULL,
	 (uint64_t address, size_t bytes), (address, bytes))
EXPORT(cuMemAddressFree, 0, cuMemAddressFree);

/* The source of most functions. The two functions share one name, by version. */
static void hand_out(const char *symbol, int version, uint64_t flags, void **function)
{
	if (function && *function)
		*function =
			sp_cuda_driver_wrap(symbol, version,
					    (flags & SP_CUDA_LOOKUP_PER_THREAD) != 0, *function);
}

UNRECORDED(cuGetProcAddress, hand_out(symbol, version, flags, function),
	   (const char *symbol, void **function, int version, uint64_t flags),
	   (symbol, function, version, flags))
FUNCTION(cuGetProcAddress, cuGetProcAddress, 11030, "cuGetProcAddress", NULL,
	 (const char *symbol, void **function, int version, uint64_t flags),
	 (symbol, function, version, flags))
EXPORT(cuGetProcAddress, 0, cuGetProcAddress);
UNRECORDED(cuGetProcAddress_v2, hand_out(symbol, version, flags, function),
	   (const char *symbol, void **function, int version, uint64_t flags, int *status),
	   (symbol, function, version, flags, status))
FUNCTION(cuGetProcAddress_v2, cuGetProcAddress, 12000, "cuGetProcAddress_v2", NULL,
	 (const char *symbol, void **function, int version, uint64_t flags, int *status),
	 (symbol, function, version, flags, status))
EXPORT(cuGetProcAddress_v2, 0, cuGetProcAddress_v2);
