/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/python_call.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/cuda/cuda_time.h"
#include "preload/frameworks/compiled_call.h"
#include "preload/frameworks/device_state.h"
#include "preload/interpreter/exact_calls.h"
#include "preload/frameworks/python_image.h"
#include "preload/frameworks/range_stack.h"
#include "preload/frameworks/resident_memory.h"
#include "preload/recorder/switch.h"
#include "preload/frameworks/torch.h"
#include "preload/waits/step_rusage.h"
#include "trace/events.h"

/* Include/typeslots.h, structmember.h and object.h: the stable ABI. */
enum {
	SLOT_CALL = 50,
	SLOT_DEALLOC = 52,
	SLOT_DESCR_GET = 54,
	SLOT_GETATTRO = 58,
	SLOT_ITER = 62,
	SLOT_ITERNEXT = 63,
	SLOT_METHODS = 64,
	SLOT_NEW = 65,
	SLOT_REPR = 66,
	SLOT_SETATTRO = 69,
	SLOT_TRAVERSE = 71,
	SLOT_MEMBERS = 72,
	SLOT_GETSET = 73,
};
enum { MEMBER_SSIZE = 19, MEMBER_READONLY = 1, METHOD_VARARGS = 1 };
#define TYPE_VECTORCALL (1u << 11)
#define TYPE_GC (1u << 14)
#define TYPE_METHOD (1u << 17)
#define TYPE_DEFAULT (1u << 18)
/* torch.compile looks for this with inspect.getattr_static and traces what it finds instead. */
#define INLINE_NAME "_torchdynamo_inline"
#define ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))

struct timed {
	struct sp_py_object head;
	void *vectorcall;
	struct sp_py_object *function; /* or the iterator */
	struct sp_py_object *after;    /* NULL: nothing */
	struct sp_py_object *label;
	struct sp_py_object *dict;	 /* only for object.__getattribute__; may be NULL */
	struct sp_py_object *references; /* weak references */
	const char *text;		 /* inside label */
	ptrdiff_t text_bytes;
	int32_t phase;
	uint32_t flags;
	uint32_t outer_calls, inner_calls; /* of SP_PYTHON_CALL_FORWARD */
};

/* Limits for a callable whose calls lie inside others: each costs 40 ns and shows nothing. */
#define INNER_CALLS_MANY 2000u
#define INNER_CALLS_FOR_OUTER 16u
#define OUTER_CALLS_FEW 4u /* of a callable: whether another one lies around them is looked at */
#define UNSEEN_BACKWARDS 3 /* after which a model without a forward that is seen has none */

static struct sp_py_object *call_type, *step_type;
static struct sp_py_object *forward_unseen, *forward_inner, *forward_outer; /* never released */
static struct sp_py_object *set_eval_frame; /* torch._C's, never released; None: not there */
static struct sp_py_object *switches_look;  /* never released */
static uint32_t backwards;		    /* under the interpreter's lock */
static int forward_is_seen, backwards_unseen;
static __thread uint32_t forward_depth __attribute__((tls_model("initial-exec")));
static __thread uint32_t outermost_depth __attribute__((tls_model("initial-exec")));
static __thread uint32_t fetch_depth __attribute__((tls_model("initial-exec")));
static __thread uint32_t optimizer_depth __attribute__((tls_model("initial-exec")));

static struct sp_py_object *timed_make(struct sp_py_object *type, struct sp_py_object *function,
				       struct sp_py_object *label, int phase, unsigned flags,
				       struct sp_py_object *after);

/* A call of a loader: whether the device works, and the range. */
struct loader_call {
	enum sp_device_state device;
	struct sp_range range;
};

static struct loader_call loader_begin(const struct timed *timed)
{
	struct loader_call call = {.range = sp_range_begin(), .device = SP_DEVICE_UNKNOWN};

	if (timed->phase == SP_PHASE_loader_next)
		call.device = sp_device_state_begin();
	return call;
}

/* The bits of a loader's call beside its iterator. */
static int64_t outcome_of(int has_batch)
{
	struct sp_py_object *raised = has_batch ? NULL : sp_python.PyErr_Occurred();

	if (raised && raised != *sp_python.PyExc_StopIteration)
		return SP_LOADER_ENDED | SP_LOADER_RAISED;
	return has_batch ? 0 : SP_LOADER_ENDED;
}

/* Calls of loaders identify their iterator: it is the first argument, or the result. */
static void loader_end(const struct timed *timed, const struct loader_call *call,
		       const struct sp_py_object *iterator, int has_batch)
{
	uint32_t kind =
		timed->phase == SP_PHASE_loader_begin ? SP_EV_loader_begin : SP_EV_loader_next;

	if (call->device != SP_DEVICE_UNKNOWN)
		sp_device_state_end(call->device);
	sp_range_end(call->range, kind, (int64_t)(uintptr_t)iterator | outcome_of(has_batch),
		     timed->text, (size_t)timed->text_bytes);
}

static int asks_loader(const struct timed *timed)
{
	return timed->phase == SP_PHASE_loader_next || timed->phase == SP_PHASE_loader_begin;
}

static void timed_begin(const struct timed *timed, struct sp_range *range,
			struct sp_call_rusage *before)
{
	before->is_known = false;
	if (sp_call_rusage_wanted(timed->phase)) {
		sp_range_observe(timed->text, (size_t)timed->text_bytes);
		before->is_known = sp_call_rusage_read(before);
	}
	*range = sp_range_begin();
}

/*
 * Now and then a step samples its memory and its times, which takes half a millisecond. The
 * sample lies inside the backward, which has the longest row of a step; an optimizer may be
 * shorter than the sample.
 */
static void backward_sample(void)
{
	sp_rusage_define_step();
	sp_resident_sample();
}

/* Calls a function of ours with these arguments, which are released. NULL: there was no memory. */
static void tell(struct sp_py_object *function, struct sp_py_object *args)
{
	if (args)
		sp_python_discard(sp_python_call_unseen(function, args));
	sp_python_release(args);
}

/* The model is called by another name than forward: its parts are looked at. */
static void look_for_forward(void)
{
	if (forward_is_seen || !forward_unseen || sp_python.PyErr_Occurred() ||
	    backwards_unseen++ >= UNSEEN_BACKWARDS)
		return;
	tell(forward_unseen, sp_python.PyTuple_New(0));
}

/* After backwards 2, 4, 8, …: a program may turn a switch on at any time. */
static void look_at_switches(void)
{
	uint32_t n = ++backwards;

	if (switches_look && n > 1 && !(n & (n - 1)) && !sp_python.PyErr_Occurred())
		tell(switches_look, sp_python.PyTuple_New(0));
}

static void timed_end(const struct timed *timed, int phase, struct sp_range range,
		      const struct sp_call_rusage *before)
{
	if (timed->phase == SP_PHASE_backward)
		backward_sample();
	if (before->is_known)
		sp_range_end_used(range, SP_EV_python_call, phase, timed->text,
				  (size_t)timed->text_bytes, before);
	else
		sp_range_end(range, SP_EV_python_call, phase, timed->text,
			     (size_t)timed->text_bytes);
	if (timed->phase == SP_PHASE_backward) {
		sp_switch_backward();
		sp_torch_backward_called();
		look_for_forward();
		look_at_switches();
	} else if (sp_phase_optimizes(timed->phase)) {
		sp_switch_step();
		sp_rusage_define_step();
		sp_resident_sample();
	}
	if (timed->phase == SP_PHASE_loader_fetch) {
		sp_resident_sample();
		sp_batch_facts();
	}
}

/* A function that returns an iterator: each step of the iterator is a range. */
static struct sp_py_object *result_iterated(const struct timed *timed, struct sp_py_object *result)
{
	struct sp_py_object *steps = timed_make(step_type, result, timed->label, timed->phase,
						timed->flags & SP_PYTHON_CALL_OUTERMOST, NULL);

	if (!steps) {
		sp_python.PyErr_Clear();
		return result;
	}
	sp_python.Py_DecRef(result);
	return steps;
}

/* One call by either protocol; `run` holds the difference. */
struct call {
	struct sp_py_object *const *vector;
	size_t count;
	struct sp_py_object *args, *names;
};

static struct sp_py_object *run(struct sp_py_object *function, const struct call *call)
{
	if (call->args)
		return sp_python.PyObject_Call(function, call->args, call->names);
	/* Without the offset flag: the word before the arguments can be lent only once, and `after`
	 * is called second. */
	return sp_python.PyObject_Vectorcall(function, call->vector,
					     call->count & ~ARGUMENTS_OFFSET, call->names);
}

/* Where the interpreter can, from 3.11 on: the host's profile and trace functions see nothing of
 * the call. */
static struct sp_py_object *run_unseen(struct sp_py_object *function, const struct call *call)
{
	void *thread = sp_python.PyThreadState_Get();
	struct sp_py_object *result;

	if (sp_python.PyThreadState_EnterTracing)
		sp_python.PyThreadState_EnterTracing(thread);
	result = run(function, call);
	if (sp_python.PyThreadState_EnterTracing)
		sp_python.PyThreadState_LeaveTracing(thread);
	return result;
}

struct sp_py_object *sp_python_call_unseen(struct sp_py_object *function, struct sp_py_object *args)
{
	return run_unseen(function, &(struct call){.args = args});
}

static struct sp_py_object *self_of(const struct call *call)
{
	if (call->args)
		return sp_python.PyTuple_Size(call->args) ? sp_python.PyTuple_GetItem(call->args, 0)
							  : NULL;
	return call->count & ~ARGUMENTS_OFFSET ? call->vector[0] : NULL;
}

static int phase_of(const struct timed *timed, const struct call *call)
{
	struct sp_py_object *given = timed->flags & SP_PYTHON_CALL_IMAGE ? self_of(call) : NULL;

	return given && sp_python_image_is_png(given) ? SP_PHASE_decode_png : timed->phase;
}

/* For fetches, and for all timed calls under STAGEPROF_CALLS. Not inlined: its variables would cost
 * each other call of run_timed() instructions. */
__attribute__((noinline)) static struct sp_py_object *
run_counted(const struct timed *timed, const struct call *call, int phase)
{
	int is_fetch = timed->phase == SP_PHASE_loader_fetch;
	uint64_t exact = is_fetch ? sp_exact_begin() : 0;
	int outer = sp_exact_phase(phase);
	struct sp_py_object *result;

	fetch_depth += is_fetch;
	result = run(timed->function, call);
	fetch_depth -= is_fetch;
	sp_exact_phase(outer);
	if (exact)
		sp_exact_end(exact, result != NULL);
	return result;
}

static void counted_end(const struct timed *timed, int has_result)
{
	if (timed->phase == SP_PHASE_loader_begin)
		sp_exact_step_break();
	else if (has_result && timed->phase == SP_PHASE_optimizer)
		sp_exact_step(sp_switch_steps());
}

static struct sp_py_object *run_timed(const struct timed *timed, const struct call *call)
{
	uint32_t stage = sp_cuda_time_enter((uint32_t)timed->phase);
	int phase = phase_of(timed, call);
	struct sp_py_object *result;
	struct sp_call_rusage before;
	struct loader_call loader = {.device = SP_DEVICE_UNKNOWN};
	struct sp_range range;

	if (asks_loader(timed))
		loader = loader_begin(timed);
	else
		timed_begin(timed, &range, &before);
	if (sp_exact_is_asked || timed->phase == SP_PHASE_loader_fetch)
		result = run_counted(timed, call, phase);
	else
		result = run(timed->function, call);
	sp_cuda_time_leave(stage);
	if (timed->phase == SP_PHASE_loader_next)
		loader_end(timed, &loader, self_of(call), result != NULL);
	else if (timed->phase == SP_PHASE_loader_begin)
		loader_end(timed, &loader, result, result != NULL);
	else
		timed_end(timed, phase, range, &before);
	if (sp_exact_is_asked)
		counted_end(timed, result != NULL);
	return result;
}

/* Pillow's convert(), resize() and tobytes() each call load(), and so does the job. */
static int is_decoded(const struct timed *timed, const struct call *call)
{
	struct sp_py_object *image = timed->flags & SP_PYTHON_CALL_TILES ? self_of(call) : NULL;

	return image && !sp_python_image_has_tiles(image);
}

/*
 * The modules that were called with gradients, by address. Their calls without gradients are acting
 * or evaluation; a teacher or a target network is never called with gradients. A full table knows
 * no more of them.
 */
#define LEARNERS 64u

static const void *learners[LEARNERS];

static int is_learner(const void *module, int has_gradients)
{
	uint32_t at = (uint32_t)((uintptr_t)module >> 4) % LEARNERS;

	for (uint32_t i = 0; module && i < LEARNERS; i++, at = (at + 1) % LEARNERS) {
		if (learners[at] == module)
			return 1;
		if (!learners[at]) {
			learners[at] = has_gradients ? module : NULL;
			return has_gradients;
		}
	}
	return 0;
}

static int forward_phase(const struct timed *timed, const struct call *call)
{
	int has_gradients = sp_torch_has_gradients();
	int learns = is_learner(self_of(call), has_gradients);

	if (has_gradients)
		return timed->phase;
	return learns ? SP_PHASE_forward_learner : SP_PHASE_forward_no_grad;
}

/* Nothing else looks at a callable that lies inside others from here on. */
static void note_inner(struct timed *timed)
{
	if (++timed->inner_calls % INNER_CALLS_MANY || !forward_inner ||
	    timed->outer_calls > timed->inner_calls / INNER_CALLS_FOR_OUTER)
		return;
	tell(forward_inner, sp_python.PyTuple_Pack(1, timed));
}

static struct sp_py_object *eval_frame_set(struct sp_py_object *hook)
{
	struct sp_py_object *args = sp_python.PyTuple_Pack(1, hook), *before = NULL;

	if (args)
		before = sp_python.PyObject_Call(set_eval_frame, args, NULL);
	sp_python_release(args);
	if (!before)
		sp_python.PyErr_Clear();
	return before;
}

/* True under Dynamo's hook, which compiles each Python function that is called, ours too. */
static int is_compiled_call(void)
{
	struct sp_py_object *before;
	int is_hooked;

	if (set_eval_frame == sp_python._Py_NoneStruct)
		return 0;
	before = eval_frame_set(sp_python._Py_NoneStruct);
	is_hooked = before != sp_python._Py_NoneStruct;
	if (before && is_hooked)
		sp_python_release(eval_frame_set(before));
	sp_python_release(before);
	return is_hooked;
}

/* A part of a model may be known and the model not: then the next calls are the model's. */
static void note_outer(const struct timed *timed, const struct call *call)
{
	struct sp_py_object *module = self_of(call);

	if (timed->outer_calls >= OUTER_CALLS_FEW || !forward_outer ||
	    forward_outer == sp_python._Py_NoneStruct || !module || sp_python.PyErr_Occurred() ||
	    is_compiled_call())
		return;
	tell(forward_outer, sp_python.PyTuple_Pack(1, module));
}

static struct sp_py_object *run_forward(struct timed *timed, const struct call *call)
{
	int phase = forward_phase(timed, call);
	struct sp_py_object *result;
	struct sp_range range;

	forward_is_seen = 1;
	note_outer(timed, call);
	timed->outer_calls++;
	forward_depth++;
	range = sp_range_begin();
	result = sp_exact_is_asked ? run_counted(timed, call, phase) : run(timed->function, call);
	sp_range_end(range, SP_EV_python_call, phase, timed->text, (size_t)timed->text_bytes);
	forward_depth--;
	return result;
}

static struct sp_py_object *run_inner(struct timed *timed, const struct call *call)
{
	struct sp_py_object *result = run(timed->function, call);

	if (result)
		note_inner(timed);
	return result;
}

static struct sp_py_object *run_compiled(const struct timed *timed, const struct call *call)
{
	struct sp_compiled_call compiled = sp_compiled_begin(self_of(call));
	struct sp_py_object *result = run(timed->function, call);

	if (sp_compiled_end(&compiled, timed->phase == SP_PHASE_update ? timed->label : NULL,
			    result))
		sp_device_state_returned();
	return result;
}

static struct sp_py_object *run_operator(const struct timed *timed, const struct call *call)
{
	struct sp_range range = sp_range_begin();
	struct sp_py_object *result = run(timed->function, call);

	sp_range_end(range, SP_EV_torch_op, 0, timed->text, (size_t)timed->text_bytes);
	return result;
}

int sp_python_is_in_outermost(void)
{
	return outermost_depth != 0;
}

/* Iterators of one loader call each other. Under a DataLoader an iterator is its data set. */
static int outermost_enter(void)
{
	return !outermost_depth++ && !fetch_depth && !sp_compiled_is_inside();
}

/* A step is recorded wherever it is called. Other methods of the optimizer that it calls, maybe
 * once for each parameter, are a part of it. */
static struct sp_py_object *run_optimizer(const struct timed *timed, const struct call *call)
{
	int is_inner = optimizer_depth++ && timed->phase == SP_PHASE_optimizer_part;
	struct sp_py_object *result =
		is_inner ? run(timed->function, call) : run_timed(timed, call);

	optimizer_depth--;
	return result;
}

static struct sp_py_object *run_outermost(const struct timed *timed, const struct call *call)
{
	struct sp_py_object *result =
		outermost_enter() ? run_timed(timed, call) : run(timed->function, call);

	outermost_depth--;
	return result;
}

static struct sp_py_object *outermost_next(struct timed *timed)
{
	int is_outermost = outermost_enter(), is_fetched = outermost_depth == 1 && fetch_depth;
	uint32_t stage = is_outermost ? sp_cuda_time_enter((uint32_t)timed->phase) : 0;
	struct loader_call call = {.device = SP_DEVICE_UNKNOWN};
	struct sp_py_object *item;

	if (is_outermost)
		call = loader_begin(timed);
	else if (is_fetched)
		call.range = sp_range_begin();
	item = sp_python.PyIter_Next(timed->function);
	outermost_depth--;
	if (is_outermost) {
		sp_cuda_time_leave(stage);
		loader_end(timed, &call, &timed->head, item != NULL);
	} else if (is_fetched && item) {
		sp_range_end(call.range, SP_EV_python_call, SP_PHASE_dataset, timed->text,
			     (size_t)timed->text_bytes);
	}
	return item;
}

/* `after` of a call that raised: the exception stays what it is. */
static void run_after_exception(const struct timed *timed, const struct call *call)
{
	struct sp_py_object *type, *value, *trace;

	sp_python.PyErr_Fetch(&type, &value, &trace);
	sp_python_discard(run_unseen(timed->after, call));
	sp_python.PyErr_Restore(type, value, trace);
}

static struct sp_py_object *timed_run(struct timed *timed, const struct call *call)
{
	struct sp_py_object *result;

	if (timed->flags & SP_PYTHON_CALL_COMPILED)
		return run_compiled(timed, call);
	if (timed->flags & SP_PYTHON_CALL_EAGER && sp_compiled_differentiates())
		return run(timed->function, call);

	if (timed->flags & SP_PYTHON_CALL_UNSEEN)
		return run_unseen(timed->function, call);
	if (timed->flags & SP_PYTHON_CALL_OPERATOR)
		return run_operator(timed, call);
	if (timed->flags & SP_PYTHON_CALL_OPTIMIZER)
		return run_optimizer(timed, call);
	if (timed->flags & SP_PYTHON_CALL_OUTERMOST && !(timed->flags & SP_PYTHON_CALL_ITERATE))
		return run_outermost(timed, call);
	if (timed->flags & SP_PYTHON_CALL_FORWARD)
		return forward_depth ? run_inner(timed, call) : run_forward(timed, call);
	if (timed->after && timed->flags & SP_PYTHON_CALL_BEFORE)
		sp_python_discard(run_unseen(timed->after, call));
	if (timed->flags & (SP_PYTHON_CALL_UNTIMED | SP_PYTHON_CALL_ITERATE) ||
	    is_decoded(timed, call))
		result = run(timed->function, call);
	else
		result = run_timed(timed, call);
	if (result && timed->flags & SP_PYTHON_CALL_EAGER)
		sp_device_state_returned();
	if (!result && timed->flags & SP_PYTHON_CALL_ALWAYS)
		run_after_exception(timed, call);
	if (!result)
		return NULL;
	if (timed->after && !(timed->flags & SP_PYTHON_CALL_BEFORE))
		sp_python_discard(run_unseen(timed->after, call));
	return timed->flags & SP_PYTHON_CALL_ITERATE ? result_iterated(timed, result) : result;
}

static struct sp_py_object *timed_vectorcall(struct sp_py_object *self,
					     struct sp_py_object *const *args, size_t count,
					     struct sp_py_object *names)
{
	return timed_run((struct timed *)self,
			 &(struct call){.vector = args, .count = count, .names = names});
}

static struct sp_py_object *timed_call(struct sp_py_object *self, struct sp_py_object *args,
				       struct sp_py_object *names)
{
	return timed_run((struct timed *)self, &(struct call){.args = args, .names = names});
}

static struct sp_py_object *step_next(struct sp_py_object *self)
{
	struct timed *timed = (struct timed *)self;
	struct sp_py_object *item;
	struct sp_call_rusage before;
	struct sp_range range;

	if (timed->flags & SP_PYTHON_CALL_OUTERMOST)
		return outermost_next(timed);
	timed_begin(timed, &range, &before);
	item = sp_python.PyIter_Next(timed->function);
	/* The end of the iterator is not a step. */
	if (item)
		timed_end(timed, timed->phase, range, &before);
	return item;
}

static struct sp_py_object *step_iter(struct sp_py_object *self)
{
	sp_python.Py_IncRef(self);
	return self;
}

/* As functions do: bound to an instance; the callable itself on a class. */
static struct sp_py_object *timed_bind(struct sp_py_object *self, struct sp_py_object *instance,
				       struct sp_py_object *class)
{
	(void)class;
	if (instance && instance != sp_python._Py_NoneStruct)
		return sp_python.PyMethod_New(self, instance);
	sp_python.Py_IncRef(self);
	return self;
}

/* Functions are pickled by name, which works only for their exact type; they are called and bound
 * by that name, too. */
static int is_own(struct sp_py_object *name)
{
	ptrdiff_t bytes;
	const char *text = sp_python.PyUnicode_AsUTF8AndSize(name, &bytes);

	if (!text)
		sp_python.PyErr_Clear();
	return text && (strncmp(text, "__reduce", 8) == 0 || strcmp(text, "__get__") == 0 ||
			strcmp(text, "__call__") == 0 || strcmp(text, INLINE_NAME) == 0);
}

static struct sp_py_object *timed_getattr(struct sp_py_object *self, struct sp_py_object *name)
{
	if (is_own(name))
		return sp_python.PyObject_GenericGetAttr(self, name);
	return sp_python.PyObject_GetAttr(((struct timed *)self)->function, name);
}

static int timed_setattr(struct sp_py_object *self, struct sp_py_object *name,
			 struct sp_py_object *value)
{
	return sp_python.PyObject_SetAttr(((struct timed *)self)->function, name, value);
}

static struct sp_py_object *timed_reduce(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)args;
	return sp_python.PyObject_GetAttrString(((struct timed *)self)->function, "__qualname__");
}

static struct sp_py_object *timed_repr(struct sp_py_object *self)
{
	return sp_python.PyObject_Repr(((struct timed *)self)->function);
}

static struct sp_py_object *timed_new(struct sp_py_object *type, struct sp_py_object *args,
				      struct sp_py_object *names)
{
	(void)type, (void)args, (void)names;
	sp_python.PyErr_SetString(*sp_python.PyExc_TypeError, "cannot create 'function' instances");
	return NULL;
}

static int timed_traverse(struct sp_py_object *self, sp_py_visit *visit, void *argument)
{
	struct timed *timed = (struct timed *)self;
	int ret = timed->function ? visit(timed->function, argument) : 0;

	if (!ret && timed->after)
		ret = visit(timed->after, argument);
	/* Since 3.9 instances visit their heap types in traversal. */
	if (!ret && sp_python.minor > 8)
		ret = visit(self->type, argument);
	return ret;
}

static void timed_dealloc(struct sp_py_object *self)
{
	struct timed *timed = (struct timed *)self;
	struct sp_py_object *type = self->type;

	sp_python.PyObject_GC_UnTrack(self);
	if (timed->references)
		sp_python.PyObject_ClearWeakRefs(self);
	sp_python_release(timed->function);
	sp_python_release(timed->after);
	sp_python_release(timed->label);
	sp_python_release(timed->dict);
	sp_python.PyObject_GC_Del(self);
	sp_python.Py_DecRef(type);
}

static struct sp_py_object *timed_make(struct sp_py_object *type, struct sp_py_object *function,
				       struct sp_py_object *label, int phase, unsigned flags,
				       struct sp_py_object *after)
{
	ptrdiff_t bytes;
	const char *text = sp_python.PyUnicode_AsUTF8AndSize(label, &bytes);
	struct timed *timed = text ? (struct timed *)sp_python.PyType_GenericAlloc(type, 0) : NULL;

	if (!timed)
		return NULL;
	timed->vectorcall = (void *)timed_vectorcall;
	timed->function = function;
	timed->label = label;
	timed->after = after == sp_python._Py_NoneStruct ? NULL : after;
	timed->text = text;
	timed->text_bytes = bytes;
	timed->phase = phase;
	timed->flags = flags;
	sp_python.Py_IncRef(function);
	sp_python.Py_IncRef(label);
	if (timed->after)
		sp_python.Py_IncRef(timed->after);
	if (flags & SP_PYTHON_CALL_INLINE)
		timed->dict = sp_python.PyDict_New();
	if (timed->dict)
		sp_python.PyDict_SetItemString(timed->dict, INLINE_NAME, function);
	return &timed->head;
}

struct sp_py_object *sp_python_wrap(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *function, *label, *after;
	int phase, flags;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OUiiO", &function, &label, &phase, &flags, &after))
		return NULL;
	return timed_make(call_type, function, label, phase, (unsigned)flags, after);
}

struct sp_py_object *sp_python_forward_watch(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OOOO", &forward_unseen, &forward_inner,
					&forward_outer, &set_eval_frame))
		return NULL;
	sp_python.Py_IncRef(forward_unseen);
	sp_python.Py_IncRef(forward_inner);
	sp_python.Py_IncRef(forward_outer);
	sp_python.Py_IncRef(set_eval_frame);
	return sp_python_none();
}

struct sp_py_object *sp_python_switch_watch(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "O", &switches_look))
		return NULL;
	sp_python.Py_IncRef(switches_look);
	return sp_python_none();
}

/* The common slots of both types. */
#define TIMED_SLOTS                                                                                \
	{SLOT_DEALLOC, (void *)timed_dealloc}, {SLOT_TRAVERSE, (void *)timed_traverse},            \
		{SLOT_GETATTRO, (void *)timed_getattr}, {SLOT_SETATTRO, (void *)timed_setattr},    \
		{SLOT_REPR, (void *)timed_repr},                                                   \
	{                                                                                          \
		SLOT_NEW, (void *)timed_new                                                        \
	}

static struct sp_py_object *call_type_make(void)
{
	static struct sp_py_method methods[] = {{"__reduce__", timed_reduce, METHOD_VARARGS, NULL},
						{"__reduce_ex__", timed_reduce, METHOD_VARARGS,
						 NULL},
						{NULL, NULL, 0, NULL}};
	/* 3.8 has none of them. */
	static struct sp_py_member members[] = {{"__dictoffset__", MEMBER_SSIZE,
						 offsetof(struct timed, dict), MEMBER_READONLY,
						 NULL},
						{"__weaklistoffset__", MEMBER_SSIZE,
						 offsetof(struct timed, references),
						 MEMBER_READONLY, NULL},
						{"__vectorcalloffset__", MEMBER_SSIZE,
						 offsetof(struct timed, vectorcall),
						 MEMBER_READONLY, NULL},
						{NULL, 0, 0, 0, NULL}};
	static struct sp_py_getset getset[] = {{"__dict__", NULL, NULL, NULL, NULL},
					       {NULL, NULL, NULL, NULL, NULL}};
	static struct sp_py_slot slots[] = {TIMED_SLOTS,
					    {SLOT_DESCR_GET, (void *)timed_bind},
					    {SLOT_METHODS, methods},
					    {SLOT_CALL, (void *)timed_call},
					    {SLOT_MEMBERS, members},
					    {SLOT_GETSET, getset},
					    {0, NULL}};
	static struct sp_py_spec spec = {"stageprof.function", sizeof(struct timed), 0,
					 TYPE_DEFAULT | TYPE_GC | TYPE_METHOD, slots};

	getset[0].get = sp_python.PyObject_GenericGetDict;
	/* Up to 3.10 the vectorcall function is an inline one. */
	if (sp_python.PyObject_Vectorcall) {
		spec.flags |= TYPE_VECTORCALL;
		for (struct sp_py_slot *slot = slots; slot->slot; slot++)
			if (slot->slot == SLOT_CALL)
				slot->function = (void *)sp_python.PyVectorcall_Call;
	} else {
		members[2].name = NULL;
	}
	if (sp_python.minor == 8)
		slots[sizeof(slots) / sizeof(slots[0]) - 3].slot = 0;
	return sp_python.PyType_FromSpec(&spec);
}

static struct sp_py_object *step_type_make(void)
{
	static struct sp_py_slot slots[] = {TIMED_SLOTS,
					    {SLOT_ITER, (void *)step_iter},
					    {SLOT_ITERNEXT, (void *)step_next},
					    {0, NULL}};
	static struct sp_py_spec spec = {"stageprof.iterator", sizeof(struct timed), 0,
					 TYPE_DEFAULT | TYPE_GC, slots};

	return sp_python.PyType_FromSpec(&spec);
}

int sp_python_call_init(void)
{
	call_type = call_type_make();
	step_type = step_type_make();
	return call_type && step_type ? 0 : -ENOSYS;
}
