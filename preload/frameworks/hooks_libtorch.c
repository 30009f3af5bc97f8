/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's C++ API without Python: the optimizers, zero_grad and backward, by the names that
 * libtorch_cpu exports. Python's optimizers and its backward do not call them. All arguments of
 * these functions lie in registers for integers; a returned at::Tensor is a hidden first argument
 * and the result (Itanium C++ ABI 3.1.3), on x86-64 as in C. Prototypes: libtorch 1.13 to 2.13.
 */
#include "preload/frameworks/loaded_frameworks.h"
#include "preload/frameworks/range_stack.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"
#include "trace/events.h"
#include "trace/frameworks.h"

#if defined(__x86_64__)

/* An exception passes through, and its call is not recorded. */
#define LIBTORCH_CALL(name, phase, label)                                                          \
	SP_HOOK(void *, name, void *a, void *b, void *c, void *d, void *e, void *f)                \
	{                                                                                          \
		__typeof__(&name) real = SP_ORIGINAL_FOR_CALLER(name, "_ZN5torch", NULL);          \
		struct sp_range range = sp_range_begin();                                          \
		void *result = real(a, b, c, d, e, f);                                             \
                                                                                                   \
		sp_framework_call_end(SP_FRAMEWORK_libtorch, range, SP_PHASE_##phase, label,       \
				      sizeof(label) - 1);                                          \
		return result;                                                                     \
	}

#define LIBTORCH_STEP(mangled, name)                                                               \
	LIBTORCH_CALL(_ZN5torch5optim##mangled##4stepESt8functionIFN2at6TensorEvEE, optimizer,     \
		      "torch::optim::" name "::step")

LIBTORCH_STEP(3SGD, "SGD")
LIBTORCH_STEP(4Adam, "Adam")
LIBTORCH_STEP(5AdamW, "AdamW")
LIBTORCH_STEP(5LBFGS, "LBFGS")
LIBTORCH_STEP(7Adagrad, "Adagrad")
LIBTORCH_STEP(7RMSprop, "RMSprop")

LIBTORCH_CALL(_ZN5torch5optim9Optimizer9zero_gradEb, zero_grad, "torch::optim::zero_grad")
LIBTORCH_CALL(_ZN5torch5optim9Optimizer9zero_gradEv, zero_grad, "torch::optim::zero_grad")
LIBTORCH_CALL(_ZNK2at6Tensor9_backwardEN3c108ArrayRefIS0_EERKSt8optionalIS0_ES4_IbEb, backward,
	      "at::Tensor::backward")
LIBTORCH_CALL(_ZNK2at6Tensor9_backwardEN3c108ArrayRefIS0_EERKNS1_8optionalIS0_EENS4_IbEEb, backward,
	      "at::Tensor::backward")
LIBTORCH_CALL(_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_St8optionalIbEbS7_,
	      backward, "torch::autograd::backward")
LIBTORCH_CALL(_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_N3c108optionalIbEEbS7_,
	      backward, "torch::autograd::backward")

#endif
