/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcudnn of the test bed. Descriptors keep attributes without knowing them; an engine is found
 * for each operation, and its execution is one kernel. Layouts are those of NVIDIA's documentation.
 */
#include "library.h"

#include <string.h>

struct handle {
	void *stream;
};

int cudnnCreate(struct handle **ret);
int cudnnCreate(struct handle **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : 1;
}

int cudnnSetStream(struct handle *handle, void *stream);
int cudnnSetStream(struct handle *handle, void *stream)
{
	handle->stream = stream;
	return 0;
}

int cudnnGetStream(struct handle *handle, void **ret);
int cudnnGetStream(struct handle *handle, void **ret)
{
	*ret = handle->stream;
	return 0;
}

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
	return 92400;
}

size_t cudnnGetCudartVersion(void);
size_t cudnnGetCudartVersion(void)
{
	return 13000;
}

const char *cudnnGetErrorString(int error);
const char *cudnnGetErrorString(int error)
{
	return error ? "an error of the test bed" : "no error";
}

void cudnnGetLastErrorString(char *ret, size_t bytes);
void cudnnGetLastErrorString(char *ret, size_t bytes)
{
	if (bytes)
		*ret = 0;
}

int cudnnGetProperty(int property, int *ret);
int cudnnGetProperty(int property, int *ret)
{
	static const int version[] = {9, 24, 0};

	*ret = property >= 0 && property < 3 ? version[property] : 0;
	return 0;
}

#define DESCRIPTOR(name)                                                                           \
	int cudnnCreate##name##Descriptor(void **ret);                                             \
	int cudnnCreate##name##Descriptor(void **ret)                                              \
	{                                                                                          \
		*ret = calloc(1, 64);                                                              \
		return *ret ? 0 : 1;                                                               \
	}                                                                                          \
	int cudnnDestroy##name##Descriptor(void *descriptor);                                      \
	int cudnnDestroy##name##Descriptor(void *descriptor)                                       \
	{                                                                                          \
		free(descriptor);                                                                  \
		return 0;                                                                          \
	}
DESCRIPTOR(Activation)
DESCRIPTOR(CTCLoss)
DESCRIPTOR(Convolution)
DESCRIPTOR(Dropout)
DESCRIPTOR(Filter)
DESCRIPTOR(Pooling)
DESCRIPTOR(RNNData)
DESCRIPTOR(RNN)
DESCRIPTOR(SpatialTransformer)
DESCRIPTOR(Tensor)

#define SETTER(name)                                                                               \
	int cudnn##name(void *descriptor);                                                         \
	int cudnn##name(void *descriptor)                                                          \
	{                                                                                          \
		(void)descriptor;                                                                  \
		return 0;                                                                          \
	}
SETTER(SetActivationDescriptor)
SETTER(SetConvolutionGroupCount)
SETTER(SetConvolutionMathType)
SETTER(SetConvolutionNdDescriptor)
SETTER(SetDropoutDescriptor)
SETTER(SetFilterNdDescriptor)
SETTER(SetPooling2dDescriptor)
SETTER(SetRNNDataDescriptor)
SETTER(SetRNNDescriptor_v8)
SETTER(SetTensorNdDescriptor)
SETTER(RestoreDropoutDescriptor)

#define OPERATION(name)                                                                            \
	int cudnn##name(struct handle *handle);                                                    \
	int cudnn##name(struct handle *handle)                                                     \
	{                                                                                          \
		CALLED("cudnn" #name);                                                             \
		return LAUNCH("cudnn" #name, handle->stream);                                      \
	}
OPERATION(BatchNormalizationBackwardEx)
OPERATION(BatchNormalizationForwardInference)
OPERATION(BatchNormalizationForwardTrainingEx)
OPERATION(ConvolutionBackwardData)
OPERATION(ConvolutionBackwardFilter)
OPERATION(ConvolutionBiasActivationForward)
OPERATION(ConvolutionForward)
OPERATION(PoolingForward)

/* Batch norm needs no memory beside its operands. */
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(struct handle *handle, int mode,
							     int operations, void *x, void *z,
							     void *y, void *scale, void *activation,
							     size_t *ret);
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(struct handle *handle, int mode,
							     int operations, void *x, void *z,
							     void *y, void *scale, void *activation,
							     size_t *ret)
{
	(void)handle, (void)mode, (void)operations, (void)x, (void)z, (void)y, (void)scale,
		(void)activation;
	*ret = 0;
	return 0;
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(struct handle *handle, int mode,
						      int operations, void *x, void *y, void *dy,
						      void *dz, void *dx, void *scale,
						      void *activation, size_t *ret);
int cudnnGetBatchNormalizationBackwardExWorkspaceSize(struct handle *handle, int mode,
						      int operations, void *x, void *y, void *dy,
						      void *dz, void *dx, void *scale,
						      void *activation, size_t *ret)
{
	(void)handle, (void)mode, (void)operations, (void)x, (void)y, (void)dy, (void)dz, (void)dx,
		(void)scale, (void)activation;
	*ret = 0;
	return 0;
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(struct handle *handle, int mode,
							 int operations, void *activation, void *x,
							 size_t *ret);
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(struct handle *handle, int mode,
							 int operations, void *activation, void *x,
							 size_t *ret)
{
	(void)handle, (void)mode, (void)operations, (void)activation, (void)x;
	*ret = 0;
	return 0;
}

/* The backend: descriptors of any type. */
enum { TYPE_INT64 = 3, TYPE_DESCRIPTOR = 15 };

int cudnnBackendCreateDescriptor(int type, void **ret);
int cudnnBackendCreateDescriptor(int type, void **ret)
{
	int *made = calloc(1, 64);

	if (!made)
		return 1;
	*made = type;
	*ret = made;
	return 0;
}

int cudnnBackendDestroyDescriptor(void *descriptor);
int cudnnBackendDestroyDescriptor(void *descriptor)
{
	free(descriptor);
	return 0;
}

SETTER(BackendFinalize)
SETTER(BackendSetAttribute)

/* Each search finds one engine, which needs no workspace and has no notes. */
int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t asked,
			     int64_t *ret_count, void *ret);
int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t asked,
			     int64_t *ret_count, void *ret)
{
	bool is_there = type == TYPE_DESCRIPTOR || type == TYPE_INT64;

	(void)descriptor, (void)name;
	if (ret_count)
		*ret_count = is_there;
	if (type == TYPE_INT64 && asked > 0 && ret)
		*(int64_t *)ret = 0;
	return 0;
}

int cudnnBackendExecute(struct handle *handle, void *plan, void *pack);
int cudnnBackendExecute(struct handle *handle, void *plan, void *pack)
{
	(void)plan, (void)pack;
	CALLED("cudnnBackendExecute");
	return LAUNCH("cudnnBackendExecute", handle->stream);
}
