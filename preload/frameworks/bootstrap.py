# SPDX-License-Identifier: Apache-2.0
# Runs once in the host's interpreter, with the GIL held, in a namespace of its own (python.c). It
# may import nothing that the host has not imported, print nothing, and leave no exception.
#
# From C: wrap(function, label, phase, flags, after), find_spec(wanted, found),
# torch_attach(version), torch_compiled(), coverage_add(group, state, detail),
# framework_add(number, version, gives_steps), range_begin(),
# range_end(begun, kind, name, phase=0), calls (python.def),
# forward_watch(unseen, inner, outer, set_eval_frame): callables or None, switch_watch(look),
# functions, modules and operators (the settings or None),
# frameworks (module -> number, trace/frameworks.def), phases (name -> number), MODULE_FORWARD,
# PYTHON_CALL; of compiled_call.h: compiled_add(function, label),
# compiled_watch(function, label, bytes), compiled_differentiates(), compiled_replica(),
# step_begin(), step_end(label),
# step_drop(); of buffer_wait.h: buffer_watch(type, label); of device_state.h: device_watch(type),
# device_local(is_local); of exact_calls.h: exact (asked for),
# exact_watch(on, off, empty), exact_entered, exact_left, exact_called, exact_returned,
# compile_begun().

import sys
from _thread import get_ident
from _weakref import ref

UNTIMED, ITERATE, INLINE, IMAGE, BEFORE, FORWARD, TILES, UNSEEN = 1, 2, 4, 8, 16, 32, 64, 128
COMPILED, EAGER = 256, 512
OPERATOR, ALWAYS, OUTERMOST, OPTIMIZER = 1024, 2048, 4096, 8192
Function = type(lambda: None)
Timed = type(wrap(len, "", 0, UNTIMED, None))
HEAP_TYPE = 1 << 9  # type.__flags__
GENERATOR = 0x20 | 0x80 | 0x200  # co_flags: generator, coroutine, asynchronous generator

wanted = {}  # module -> [(path, phase, label)]
replaced = {}  # (class, name) -> the method that was there


def replace(owner, name, label, phase, flags=0, after=None):
	"""Puts a timed callable in the place of owner.name, if it is there and its own."""
	value = vars(owner)[name] if name in vars(owner) else inherited(owner, name)
	kind = type(value)
	# torch.compile would call a method that it finds there without its instance.
	if plain(value) and not isinstance(owner, type):
		flags |= INLINE
	if value is None or kind is Timed:
		return
	if not callable(value) and kind not in (staticmethod, classmethod):
		return
	if kind in (staticmethod, classmethod):
		if type(value.__func__) is not Timed:
			setattr(owner, name, kind(wrap(value.__func__, label, phase, flags, after)))
	elif isinstance(owner, type) and not hasattr(kind, "__get__"):
		setattr(owner, name, staticmethod(wrap(value, label, phase, flags, after)))
	elif not isinstance(value, type):
		if isinstance(owner, type):
			replaced[owner, name] = value
		setattr(owner, name, wrap(value, label, phase, flags, after))


def unseen(function):
	"""Hides a function of ours that others call from the host's profile and trace functions."""
	return wrap(function, "", 0, UNSEEN, None)


def inherited(owner, name):
	"""A base class's function before it was replaced: one call is not timed twice. That of
	a type which takes no attributes (Cython, Rust) is timed in the class that inherits it."""
	for cls in getattr(owner, "__mro__", ()):
		if (cls, name) in replaced:
			return replaced[cls, name]
		if name in vars(cls) and cls is not object and not cls.__flags__ & HEAP_TYPE:
			return vars(cls)[name]


def plain(value):
	"""The Python function in an attribute of a class or module, or None."""
	value = value.__func__ if type(value) in (staticmethod, classmethod) else value
	return value if type(value) is Function else None


def attempt(function, *args):
	try:
		return function(*args)
	except Exception:
		return None


def owner_of(module, path):
	owner, parents = module, path.split(".")
	for parent in parents[:-1]:
		owner = getattr(owner, parent)
	return owner, parents[-1]


PILLOW = ("PIL.ImageFile", "PIL.PngImagePlugin")


ITERABLE = ("__iter__", ".iter", "prefetch_to_device")  # what they give is the iterator of a loop


def wrap_calls(module, rows):
	# The kind comes from the decoder's argument; no hook sees the libraries inside its wheels.
	own = IMAGE if module.__name__ == "cv2" else TILES if module.__name__ in PILLOW else 0
	nests = not module.__name__.startswith(("torch.", "paddle."))
	for path, phase, label in rows:
		# A round calls the C API, which is hooked, too. Dataset.map iterates.
		nested = phase in (phases["loader_next"], phases["loader_begin"], phases["round"])
		nested |= module.__name__ == "datasets.arrow_dataset"
		flags = OUTERMOST if nests and nested else own
		is_next = phase == phases["loader_next"]
		if flags == OUTERMOST and is_next and path.endswith(ITERABLE):
			flags |= ITERATE
		pair = attempt(owner_of, module, path)
		if pair:
			attempt(replace, *pair, label, phase, flags)
		if phase in (phases["optimizer"], phases["round"]) and pair and is_timed(*pair):
			steps_given(module)
		if phase == phases["function"] and pair and is_timed(*pair):
			coverage_add("functions", "bound", module.__name__ + ":" + path)


# The dataset's own code: its methods that make items, and the functions of its module and the other
# methods that those name, however deep. Only code below the loader is touched: what a model calls
# may be traced by torch.compile.

OWN = ("__getitem__", "__getitems__", "__iter__", "__next__")
LIBRARIES = ("torch.", "builtins.", "abc.", "typing.", "numpy.", "paddle.", "collections.")
depth_wanted = int(modules) if modules and modules.isdigit() else 0
seen = set()  # ids of the visited code objects and classes, which live as long as the process


def names_in(code):
	names = set(code.co_names)
	for const in code.co_consts:
		if type(const) is type(code):
			names |= names_in(const)
	return names


def reach(function, classes, phase):
	"""Wraps what a function's code names: methods of `classes`, functions of its module."""
	code = function.__code__
	if code in seen:
		return
	seen.add(code)
	space = function.__globals__
	module = sys.modules.get(space.get("__name__"))
	for name in names_in(code):
		for cls in classes:
			if plain(vars(cls).get(name)):
				reach_one(cls, name, classes, phase)
		if module is not None and vars(module) is space:
			found = plain(space.get(name))
			if found and found.__module__ == module.__name__:
				reach_one(module, name, classes, phase)


def reach_one(owner, name, classes, phase, flags=0):
	function = plain(vars(owner).get(name))
	if function is None:
		return
	reach(function, classes, phase)
	if function.__code__.co_flags & GENERATOR and not flags:
		return
	replace(owner, name, function.__qualname__, phase, flags)


def own_classes(value):
	return [
		cls
		for cls in type(value).__mro__
		if cls is not object and not (cls.__module__ + ".").startswith(LIBRARIES)
	]


def explore_transform(value):
	"""A callable object that the dataset keeps: itself, or the steps that it is made of."""
	steps = getattr(value, "transforms", None)
	if isinstance(steps, (list, tuple)):
		for step in steps:
			explore_transform(step)
		return
	for cls in own_classes(value):
		for name in ("__call__", "forward"):
			function = plain(vars(cls).get(name))
			if function is not None:
				replace(cls, name, cls.__qualname__, phases["transform"])


def explore(dataset, depth=0):
	classes = own_classes(dataset)
	for cls in classes:
		if cls in seen:
			continue
		seen.add(cls)
		for name in OWN:
			flags = ITERATE if name == "__iter__" else 0
			reach_one(cls, name, classes, phases["dataset"], flags)
	if depth > 4:
		return
	for name, value in list(getattr(dataset, "__dict__", {}).items()):
		if "transform" in name and callable(value) and type(value) is not Function:
			attempt(explore_transform, value)
		elif name in ("dataset", "_dataset"):
			explore(value, depth + 1)
		elif name == "datasets" and hasattr(value, "__getitem__"):
			for inner in value:
				explore(inner, depth + 1)


facts = set()  # (group, detail): what the run says of the job itself, each once


def fact_add(group, detail, state="bound"):
	if (group, detail) not in facts:
		facts.add((group, detail))
		coverage_add(group, state, detail)


def is_iterable(dataset):
	"""Not by the fetcher's class: loaders of other libraries have one that divides an indexed
	dataset itself."""
	kinds = ("IterableDataset", "IterDataPipe")
	return any(kind.__name__ in kinds for kind in type(dataset).__mro__)


def fetcher_made(fetcher, dataset, auto_collation=None, collate_fn=None, *rest, **names):
	wrap_later()
	fact_add("dataset", "iterable" if is_iterable(dataset) else "indexed")
	if collate_fn is not None and type(collate_fn) is not Timed:
		label = getattr(collate_fn, "__qualname__", type(collate_fn).__qualname__)
		fetcher.collate_fn = wrap(collate_fn, label, phases["collate"], 0, None)
		library = ("torch.", "paddle.")
		if type(collate_fn) is Function and not collate_fn.__module__.startswith(library):
			attempt(reach, collate_fn, [], phases["collate"])
	attempt(explore, dataset)


# STAGEPROF_CALLS: C code counts the calls of some fetches (exact_calls.h) and asks here for the
# events. Ids 0, 1, 2 and 5 of sys.monitoring have a meaning; 4 has none.

MONITOR = 4
monitoring = getattr(sys, "monitoring", None)


def tools_known():
	if sys.getprofile() is not None or sys.gettrace() is not None:
		return True
	others = [n for n in range(6) if n != MONITOR or not exact_is_on]
	return monitoring is not None and any(monitoring.get_tool(n) for n in others)


exact_is_on = False
exact_events = {
	"PY_START": exact_entered,
	"PY_RESUME": exact_entered,
	"PY_THROW": exact_entered,
	"PY_RETURN": exact_left,
	"PY_YIELD": exact_left,
	"PY_UNWIND": exact_left,
	"CALL": exact_called,
	"C_RETURN": exact_returned,
	"C_RAISE": exact_returned,
}


def exact_on():
	global exact_is_on
	if tools_known():
		return 0
	if monitoring is None:
		return 1
	monitoring.use_tool_id(MONITOR, "stageprof")
	exact_is_on = True
	wanted_events = 0
	for name, function in exact_events.items():
		event = getattr(monitoring.events, name)
		monitoring.register_callback(MONITOR, event, function)
		if name not in ("C_RETURN", "C_RAISE"):  # they come with CALL
			wanted_events |= event
	monitoring.set_events(MONITOR, wanted_events)
	return 2


def exact_off():
	global exact_is_on
	others = tools_known()
	if exact_is_on:
		monitoring.set_events(MONITOR, 0)
		for name in exact_events:
			event = getattr(monitoring.events, name)
			monitoring.register_callback(MONITOR, event, None)
		monitoring.free_tool_id(MONITOR)
		exact_is_on = False
	return not others


def exact_nothing():
	pass


def exact_empty():
	for _ in range(64):
		exact_nothing()


if exact:
	exact_watch(exact_on, exact_off, exact_empty)


# The user's own functions, STAGEPROF_FUNCTIONS. Those of __main__ come to be while it runs, and
# nothing is called when a function comes to be. A profile function waits for the first call of
# each, records that call, and puts a timed callable in the function's place. It goes when all are
# found, or after so many events that an unknown name would slow the job.

MAIN = ("__main__", "__mp_main__")
EVENTS_MOST = 40000000  # some seconds; to import PyTorch takes two million, TensorFlow 14
EVENTS_BETWEEN = 1024  # from one look for functions of other threads to the next
later = []
first_names = set()  # the last parts of the paths in `later`
first_calls = {}  # frame -> (begin of its range, label)
events_left = EVENTS_MOST


def is_timed(owner, name):
	value = vars(owner).get(name)
	return type(getattr(value, "__func__", value)) is Timed


def replace_needed(owner, name, *rest):
	"""A name that steps come from: its loss is an error."""
	replace(owner, name, *rest)
	if not is_timed(owner, name):
		raise AttributeError(name)


def wrap_row(main, row):
	"""The function's code, or None where the program has no such function yet."""
	path, phase, label = row
	pair = attempt(owner_of, main, path)
	if not pair or pair[1] not in vars(pair[0]):
		return None
	value = vars(pair[0])[pair[1]]
	value = getattr(value, "__func__", value)
	attempt(replace, *pair, label, phase)
	if not is_timed(*pair):
		return None
	coverage_add("functions", "bound", "__main__:" + path)
	later.remove(row)
	while hasattr(value, "__wrapped__"):
		value = value.__wrapped__
	return getattr(value, "__code__", None)


def wrap_later(*_args, **_names):
	main = sys.modules.get("__main__")
	if main is not None:
		for row in list(later):
			wrap_row(main, row)


def first_call_began(frame):
	main = sys.modules.get("__main__")
	for row in list(later):
		if main is not None and row[0].rpartition(".")[2] == frame.f_code.co_name:
			code = wrap_row(main, row)
			if code is frame.f_code and not code.co_flags & GENERATOR:
				first_calls[frame] = range_begin(), row[2]


def first_calls_watched(frame, event, _argument):
	global events_left
	events_left -= 1
	if event == "return" and frame in first_calls:
		begun, label = first_calls.pop(frame)
		range_end(begun, PYTHON_CALL, label, phases["function"])
	elif event == "call" and frame.f_code.co_name in first_names:
		if frame.f_globals.get("__name__") in MAIN:
			attempt(first_call_began, frame)
	elif events_left % EVENTS_BETWEEN == 0:
		wrap_later()
	if (not later or events_left < 0) and not first_calls:
		sys.setprofile(None)


# STAGEPROF_MODULES=depth: PyTorch's own hooks around each module's forward, and the call of
# Paddle's layers. Python functions: what they cost is the price of asking, and torch.compile ends
# its graphs at them.

places = {}  # id of a module -> (weak reference, "path\tclass", level below the outermost call)
stacks = {}  # thread -> modules that are in their forward
roots = {}  # id of a model -> [weak reference, looks left]: its parameters were asked for
LOOKS = 16  # into a model whose modules have no places
OUTPUTS = 8  # shapes of one call's results that are shown


def place_of(module):
	place = places.get(id(module))
	return place if place and place[0]() is module else None


def modules_of(root):
	"""(path, module) of a module of PyTorch or a layer of Paddle, itself first."""
	named = getattr(root, "named_modules", None)
	return list(named() if named else root.named_sublayers(include_self=True))


def place_all(root):
	for path, inner in modules_of(root):
		places[id(inner)] = ref(inner), path + "\t" + type(inner).__qualname__, None


def place_outermost(module):
	"""Names a part of a model that is called by itself after the model. Inner parts of a known
	model keep their names when backward computes their forward again."""
	if place_of(module):
		return
	found, most = module, 0
	for entry in roots.values():
		root = entry[0]()
		if root is None or not entry[1] or place_of(root):
			continue
		entry[1] -= 1
		inside = [inner for _path, inner in modules_of(root)]
		if len(inside) > most and any(inner is module for inner in inside):
			found, most = root, len(inside)
	place_all(found)


def module_shown(module, args, level):
	if level == 0:
		place_outermost(module)
	place = place_of(module)
	shapes = [str(list(a.shape)) for a in args if hasattr(a, "shape")]
	shown = place[1] if place else "?\t" + type(module).__qualname__
	return shown + "\t" + " ".join(shapes)


def module_level(module, stack):
	"""Forward that backward computes again is as deep as it was."""
	if stack:
		return stack[-1][3] + 1
	place = place_of(module)
	return place[2] or 0 if place and in_backward() else 0


def module_entered(module, args):
	stack = stacks.setdefault(get_ident(), [])
	level = module_level(module, stack)
	shown = module_shown(module, args, level) if level < depth_wanted else None
	place = places.get(id(module))
	if shown and place and place[2] is None:
		places[id(module)] = place[0], place[1], level
	again = "\tbackward" if shown and in_backward() else ""
	stack.append((module, shown, range_begin() if shown else None, level, again))


def shapes_in(value, depth=0):
	"""Shapes of what a forward returned: a tensor, or tuples, lists and dicts of them."""
	if hasattr(value, "shape"):
		return [str(list(value.shape))]
	if depth == 2 or not isinstance(value, (tuple, list, dict)):
		return []
	inner = list(value.values() if isinstance(value, dict) else value)[:OUTPUTS]
	return [shape for each in inner for shape in shapes_in(each, depth + 1)][:OUTPUTS]


def with_outputs(shown, output):
	outputs = attempt(shapes_in, output)
	return shown + " -> " + " ".join(outputs) if outputs else shown


def module_left(module, _args, output):
	stack = stacks.get(get_ident(), [])
	# Before PyTorch 2.1 a forward that raised leaves what it entered.
	while stack:
		entered, shown, begun, _level, again = stack.pop()
		if entered is module:
			if shown:
				shown = with_outputs(shown, output) + again
				range_end(begun, MODULE_FORWARD, shown)
			return


def in_backward():
	return False


def modules_imported(module):
	global in_backward
	attempt(models_imported, module)
	if not depth_wanted:
		return
	running = getattr(sys.modules["torch"]._C, "_current_graph_task_id", None)
	if running:
		in_backward = lambda: running() != -1
	left = unseen(module_left)
	module.register_module_forward_pre_hook(unseen(module_entered))
	try:
		module.register_module_forward_hook(left, always_call=True)
	except TypeError:
		module.register_module_forward_hook(left)


# Forward: the outermost call of a model from the loop. Modules whose parameters are asked for, or
# that are moved or set to evaluate, are models; the forward of their classes is timed, and C code
# records the outermost call of a thread. A model whose own forward is not what the loop calls shows
# its children's. Module.__call__ is left alone: torch.compile knows it by identity.

ASKS = ("parameters", "named_parameters", "to", "load_state_dict", "eval")
models = []  # weak references
met = set()  # classes
watched = {}  # class -> its own forward, as it was


def forward_owner(cls):
	for base in cls.__mro__:
		if "forward" in vars(base):
			return base
	return None


def watch_forward(module, depth):
	owner = forward_owner(type(module))
	own = plain(vars(owner)["forward"]) if owner is not None else None
	if own is None or own.__name__ == "_forward_unimplemented":
		if depth < 3:
			for child in list(module.children()):
				watch_forward(child, depth + 1)
	elif (
		owner not in watched
		and type(own) is Function
		and any(True for _ in parameters_of(module))
	):
		label = owner.__qualname__ + ".forward"
		replace(owner, "forward", label, phases["forward"], FORWARD)
		if type(vars(owner)["forward"]) is Timed:
			watched[owner] = own


def parameters_of(module):
	return replaced.get((module_base, "parameters"), module_base.parameters)(module)


def root_met(module, *_args, **_names):
	if depth_wanted and (id(module) not in roots or roots[id(module)][0]() is not module):
		roots[id(module)] = [ref(module), LOOKS]


def module_met(module, *_args, **_names):
	root_met(module)
	if type(module) not in met:
		met.add(type(module))
		models.append(ref(module))
		watch_forward(module, 0)


def forward_unseen():
	for model in [model() for model in models]:
		for child in list(model.children()) if model is not None else ():
			watch_forward(child, 1)


# The loop may ask a model's parts for their parameters, and call the model: the outermost forward
# on the stack that the part is in is the model's.


def module_of(frame):
	code = frame.f_code
	if code.co_name != "forward" or not code.co_argcount:
		return None
	module = frame.f_locals.get(code.co_varnames[0])
	return module if isinstance(module, module_base) else None


def forward_outer(part):
	frame, model = sys._getframe(), None
	if (module_base, "parameters") not in replaced:
		return
	while frame is not None:
		module = module_of(frame)
		if module is not None and module is not part:
			model = module
		frame = frame.f_back
	if model is not None and any(inner is part for inner in model.modules()):
		module_met(model)


def unwatch(cls):
	if cls in watched and type(vars(cls).get("forward")) is Timed:
		replaced.pop((cls, "forward"), None)
		cls.forward = watched[cls]


def forward_inner(timed):
	for cls in list(watched):
		if vars(cls).get("forward") is timed:
			unwatch(cls)


def compile_begins(*_args, **_names):
	compile_begun()
	# torch.compile has to trace the original forwards of all modules inside a model.
	for model in [model() for model in models]:
		for inner in list(model.modules())[1:] if model is not None else ():
			unwatch(forward_owner(type(inner)))
	for cls in list(watched):
		if cls.__module__.startswith("torch."):
			unwatch(cls)
	for name in ASKS:
		if (module_base, name) in replaced:
			setattr(module_base, name, replaced.pop((module_base, name)))


def convert_imported(module):
	replace(module, "_compile", "torch.compile", phases["compile"], BEFORE, compile_begins)


# Switches that slow PyTorch while they are on: functions that show it, those that slow a device
# alone, and variables of the environment.
SWITCHES = (("torch.autograd.set_detect_anomaly(True)", "is_anomaly_enabled"),)
DEVICE_SWITCHES = (
	("torch.use_deterministic_algorithms(True)", "are_deterministic_algorithms_enabled"),
)
VARIABLES = ("CUDA_LAUNCH_BLOCKING", "PYTORCH_NO_CUDA_MEMORY_CACHING")
threads_calls = []  # of torch.set_num_threads, where it was called


def on_device():
	return sys.modules["torch"].cuda.is_initialized()


def switches_look():
	torch = sys.modules.get("torch")
	environ = getattr(sys.modules.get("os"), "environ", {})
	for text, name in SWITCHES + (DEVICE_SWITCHES if attempt(on_device) else ()):
		if attempt(getattr(torch, name, bool)):
			fact_add("switch", text)
	for name in VARIABLES:
		if environ.get(name, "0") not in ("", "0"):
			fact_add("switch", name + "=1")
	threads = attempt(torch.get_num_threads)
	if threads:
		fact_add("torch-threads", str(threads))
	if not threads_calls and environ.get("OMP_NUM_THREADS") == str(threads):
		fact_add("threads-environ", str(threads))


def parallel_made(model, *_inputs, **_names):
	if model.find_unused_parameters:
		fact_add("switch", "DistributedDataParallel(find_unused_parameters=True)")


def parallel_imported(module):
	cls = module.DistributedDataParallel
	replace(cls, "__init__", "", 0, UNTIMED, parallel_made)
	own = plain(vars(cls)["forward"])
	replace(cls, "forward", "DistributedDataParallel.forward", phases["forward"], FORWARD)
	watched[cls] = own


module_base = None


def group_named(begun, made):
	group = made[0] if isinstance(made, tuple) else made
	described = getattr(group, "group_desc", "")
	shown = [name for name in (group.group_name, described) if name and name != "undefined"]
	range_end(begun, PYTHON_CALL, "process group " + " ".join(shown))


def groups_imported(module):
	"""Names the group that a rank makes: the name is the same on all its ranks."""
	make = module._new_process_group_helper

	def group_made(*args, **names):
		begun = range_begin()
		made = make(*args, **names)
		attempt(group_named, begun, made)
		return made

	module._new_process_group_helper = unseen(group_made)


def models_imported(module):
	global module_base
	module_base = module.Module
	native = getattr(sys.modules.get("torch._C"), "_dynamo", None)  # None before PyTorch 2
	hook = getattr(getattr(native, "eval_frame", None), "set_eval_frame", None)
	outer = forward_outer if hook or not native else None
	forward_watch(forward_unseen, forward_inner, outer, hook)
	switch_watch(switches_look)
	for name in ASKS:
		replace(module.Module, name, "", 0, UNTIMED, module_met)


# Actions on whole modules after their import, in addition to the table's lines.


def torch_imported(module):
	torch_attach(getattr(module, "__version__", "0"))
	replace(module, "set_num_threads", "", 0, UNTIMED, threads_set)


def fetch_imported(module):
	base = getattr(module, "_BaseDatasetFetcher", None) or module._DatasetFetcher
	replace(base, "__init__", "", 0, UNTIMED, fetcher_made)


LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python3", "<")
LINES_MOST = 16  # of a group
lines = []  # (group, number and line)


def line_add(group, number, frame):
	"""The line that somebody edits to change a number; a library's is nobody's to edit."""
	file = frame.f_code.co_filename if frame else "<"
	if paths not in (None, "", "full", "basename") or any(part in file for part in LIBRARIES):
		return
	file = file.rpartition("/")[2] if paths == "basename" else file
	line = group, "%d %s:%d" % (number, file, frame.f_lineno)
	if line not in lines and sum(of == group for of, _ in lines) < LINES_MOST:
		lines.append(line)
		fact_add(*line)


def loader_made(loader, *_rest, **_names):
	"""A loader's constructor ends by this call."""
	frame = sys._getframe(1)
	made = frame.f_code
	if made.co_name != "__init__":
		return
	while frame and frame.f_code.co_filename == made.co_filename:
		frame = frame.f_back
	line_add("loader", loader.num_workers, frame)


def threads_set(number):
	threads_calls[:] = [number]
	worker = sys.modules.get("torch.utils.data._utils.worker")
	if getattr(worker, "_worker_info", None) is None:  # a worker's threads are not the model's
		line_add("threads-set", number, sys._getframe(1))


def loader_imported(module):
	replace(module.DataLoader, "check_worker_number_rationality", "", 0, UNTIMED, loader_made)


def graphs_imported(module):
	# Optimizers import dynamo where nothing is compiled; torch.export's graphs train nobody.
	def compiled(graph, *_rest, **_names):
		if not getattr(graph, "export", False):
			torch_compiled()

	replace(module.OutputGraph, "call_user_compiler", "", 0, UNTIMED, compiled)


# Paddle: a layer's call is Layer.__call__, an operator's a function of paddle._C_ops or, for + and
# its like, a method of its Tensor.


def layer_entered(layer, *inputs, **_names):
	module_entered(layer, inputs)


def layer_left(layer, *_inputs, **_names):
	module_left(layer, None, None)


def layers_imported(module):
	if not depth_wanted:
		return
	layer = module.Layer
	replace(layer, "parameters", "", 0, UNTIMED, root_met)
	replace(layer, "__call__", "", 0, UNTIMED | BEFORE, layer_entered)
	layer.__call__ = wrap(vars(layer)["__call__"], "", 0, UNTIMED | ALWAYS, layer_left)


SIGNS = "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow rpow matmul neg eq ne lt gt"


def operators_imported(module):
	if not operators:
		return
	for name, value in list(vars(module).items()):
		if type(value) is type(len):
			setattr(module, name, wrap(value, name, 0, OPERATOR, None))
	coverage_add("paddle-operators", "bound", "without those of backward")


def tensor_imported(module):
	core = sys.modules.get("paddle.base.core")
	tensor = getattr(getattr(core, "eager", None), "Tensor", None)
	for sign in SIGNS.split() if operators and tensor else ():
		name = "__" + sign + "__"
		own = getattr(tensor, name, None)
		if type(own) in (type(str.join), type(int.__add__)):
			setattr(tensor, name, wrap(own, sign, 0, OPERATOR, None))


open_events = {}  # id of a RecordEvent -> its begin


def record_event_imported(module):
	def begun(event, *_rest):
		open_events[id(event)] = range_begin()

	def ended(event, *_rest):
		begin = open_events.pop(id(event), None)
		if begin:
			range_end(begin, PYTHON_CALL, event.name)

	replace(module.RecordEvent, "begin", "", 0, UNTIMED, begun)
	replace(module.RecordEvent, "end", "", 0, UNTIMED, ended)


def replace_judged(cls, name, label, phase_of):
	"""Records the calls of a method whose phase is known at their end only, by `phase_of`."""
	begun = {}  # thread -> range of the call

	def entered(*_rest, **_names):
		begun[get_ident()] = range_begin()

	def left(*args, **names):
		begin = begun.pop(get_ident(), None)
		if begin:
			range_end(begin, PYTHON_CALL, label, phase_of(*args, **names))

	replace(cls, name, "", 0, UNTIMED | BEFORE, entered)
	setattr(cls, name, wrap(vars(cls)[name], "", 0, UNTIMED | ALWAYS, left))


# Opacus: clipping and noise are a part of its optimizer's step. A step that it skips, because
# gradients still accumulate, only clips.


def private_step_phase(optimizer, *_rest, **_names):
	skips = getattr(optimizer, "_is_last_step_skipped", True)
	return phases["grad_clip" if skips else "optimizer"]


def private_step_imported(module):
	cls = module.DPOptimizer
	replace_judged(cls, "step", "opacus DPOptimizer.step", private_step_phase)
	replace(cls, "zero_grad", "opacus DPOptimizer.zero_grad", phases["zero_grad"])


# Paddle's static graphs: minimize adds an optimizer to a program, and each run of it is a step.

optimized = set()  # ids of programs


def static_program():
	static = getattr(sys.modules.get("paddle"), "static", None)
	return static.default_main_program() if static else None


def minimize_phase(*_rest, **_names):
	if sys.modules["paddle"].in_dynamic_mode():
		return phases["optimizer"]
	optimized.add(id(static_program()))
	return phases["none"]


def program_phase(_executor, program=None, *_rest, **_names):
	program = static_program() if program is None else getattr(program, "_program", program)
	return phases["update" if id(program) in optimized else "none"]


def paddle_optimizer_imported(module):
	replace_judged(module.Optimizer, "minimize", "paddle Optimizer.minimize", minimize_phase)


def static_executor_imported(module):
	replace_judged(module.Executor, "run", "paddle Executor.run", program_phase)


# JAX: a TraceAnnotation is an object of C++, and so are its methods.

ANNOTATIONS_MOST = 4096  # that are made and not left
annotations = {}  # id of a TraceAnnotation -> its name, or its begin and its name


def annotation_made(annotation, name, *_rest, **_names):
	# An id may be that of one that was never left: its name must go.
	if len(annotations) < ANNOTATIONS_MOST or id(annotation) in annotations:
		annotations[id(annotation)] = name


def annotation_entered(annotation, *_rest):
	annotations[id(annotation)] = range_begin(), annotations.get(id(annotation))


def annotation_left(annotation, *_rest):
	begun, name = annotations.pop(id(annotation))
	range_end(begun, PYTHON_CALL, name)


def annotations_imported(module):
	cls = module.TraceAnnotation
	for name, after, flags in (
		("__init__", annotation_made, UNTIMED),
		("__enter__", annotation_entered, UNTIMED),
		("__exit__", annotation_left, UNTIMED | BEFORE),
	):
		setattr(cls, name, wrap(getattr(cls, name), "", 0, flags, after))


LOW_PRECISION = ("torch.float16", "torch.bfloat16")
PARAMETERS = 64  # of each group of an optimizer are looked at


def parameters_reported(optimizer):
	channels_last = sys.modules["torch"].channels_last
	for group in optimizer.param_groups:
		for one in group["params"][:PARAMETERS]:
			low = str(one.dtype) in LOW_PRECISION
			fact_add("parameters", "low precision" if low else "single precision")
			# A kernel of one pixel lies the same in both orders.
			last = one.dim() == 4 and one.is_contiguous(memory_format=channels_last)
			order = "channels last" if last else "channels first"
			if one.dim() == 4 and last != one.is_contiguous():
				fact_add("parameters", order)


def optimizer_made(optimizer, *_args, **_names):
	wrap_later()
	attempt(parameters_reported, optimizer)
	# PyTorch puts its own mark into the class when the first of it is made: it leaves out
	# what leads there.
	for cls in type(optimizer).__mro__:
		if "step" in vars(cls):
			label = cls.__qualname__ + ".step"
			replace(cls, "step", label, phases["optimizer"], OPTIMIZER)
			break
	for cls in type(optimizer).__mro__:
		if cls is not object and not cls.__module__.startswith("torch."):
			attempt(own_methods_watched, cls)


def own_methods_watched(cls):
	"""Methods of an optimizer beside its step: two rounds of a step, a swap of weights."""
	base = sys.modules["torch.optim.optimizer"].Optimizer
	if not issubclass(cls, base):
		return
	for name, value in list(vars(cls).items()):
		own = type(value) is Function and not name.startswith("_")
		if own and not hasattr(base, name) and not value.__code__.co_flags & GENERATOR:
			label = cls.__qualname__ + "." + name
			replace(cls, name, label, phases["optimizer_part"], OPTIMIZER)


def optimizer_imported(module):
	replace(module.Optimizer, "__init__", "", 0, UNTIMED, optimizer_made)


# Steps that are one call. JAX: a compiled function is an object of C++ that is called through a
# slot of its own; the slot is replaced, so that the object, its type and its cache keys stay.
# Keras: the calls of its callbacks around the training function; on PyTorch, PyTorch's steps.

JIT_OWN = ("jax.", "jaxlib.")


MAPPED = "jax._src.pmap"  # what it gives to jit is a function around the user's


def jit_watched(made, function):
	module = getattr(function, "__module__", None) or ""
	kind = type(made)
	if kind.__name__ not in ("PjitFunction", "PmapFunction"):
		return
	name = getattr(function, "__name__", None) or type(function).__name__
	label = "jit(" + name + ")" if kind.__name__ == "PjitFunction" else "pmap(" + name + ")"
	if module == MAPPED:
		label = "pmap"
	elif (module + ".").startswith(JIT_OWN):
		return
	compiled_watch(made, "step: " + label, kind.__basicsize__)


def pmap_watched(library):
	real = library.pmap

	def pmap(function, *rest, **names):
		made = real(function, *rest, **names)
		attempt(jit_watched, made, function)
		return made

	library.pmap = unseen(pmap)


def jit_imported(module):
	library = getattr(module, "_jax", None) or module.xc._xla
	real = library.pjit

	def pjit(name, function, *rest, **names):
		made = real(name, function, *rest, **names)
		attempt(jit_watched, made, function)
		return made

	library.pjit = unseen(pjit)
	if hasattr(library, "pmap_lib"):
		pmap_watched(library.pmap_lib)


def gradients_taken(*_args, **_names):
	if not compiled_differentiates():
		fact_add("jax-gradients", "outside of compiled calls")


def gradients_imported(module):
	for name in ("linearize", "vjp"):
		if hasattr(module, name):
			replace(module, name, "", 0, UNTIMED, gradients_taken)


# numpy asks an array in the host's memory for its buffer, which waits and calls nothing of Python.


def arrays_imported(module):
	buffer_watch(module.ArrayImpl, "jax.Array to host")
	if hasattr(module.ArrayImpl, "is_ready"):
		device_watch(module.ArrayImpl)


def graph_function_made(function, python_function=None, name="", *_rest, **_names):
	compiled_add(function, "step: tf.function " + (name or "function"))


def graph_functions_imported(module):
	replace(module.Function, "__init__", "", 0, UNTIMED, graph_function_made)
	replace_needed(module.Function, "__call__", "", 0, COMPILED)


def eager_gradients(*_args, **_names):
	fact_add("framework", "tensorflow", "partial")


# TensorFlow on the processor alone has made a step when its call returns, unless it was asked for
# calls that return ahead.

is_ahead = False


def local_devices_known(context, *_rest):
	kinds = {device.device_type for device in context._logical_devices or ()}
	device_local(kinds == {"CPU"} and not is_ahead and not context._default_is_async)


def contexts_imported(module):
	initialize = "_initialize_logical_devices"
	replace(module.Context, initialize, "", 0, UNTIMED, local_devices_known)


# Each replica of a strategy traces in a thread of its own, while the caller's thread waits.


def replica_begun(*_args):
	compiled_replica()


def replicas_imported(module):
	replace(module._MirroredReplicaThread, "run", "", 0, UNTIMED | BEFORE, replica_begun)


def executor_made(enable_async=False, *_rest, **_names):
	global is_ahead
	if enable_async:
		is_ahead = True
		device_local(False)


def executors_imported(module):
	replace(module, "new_executor", "", 0, UNTIMED, executor_made)


def tape_imported(module):
	for name, put in (("gradient", replace_needed), ("jacobian", replace)):
		label = "GradientTape." + name
		put(module.GradientTape, name, label, phases["backward"], EAGER, eager_gradients)


def keras_optimizer_imported(module):
	replace(module.BaseOptimizer, "apply", "keras Optimizer.step", phases["optimizer"], EAGER)


def keras_trainer_imported(module):
	for name in ("TensorFlowTrainer", "JAXTrainer"):
		cls = getattr(module, name, None)
		if cls is not None:
			label = "step: keras train_on_batch"
			replace(cls, "train_on_batch", label, phases["update"], COMPILED)


def keras_backend():
	return getattr(sys.modules.get("keras.src.backend.config"), "_BACKEND", None)


def keras_callbacks_imported(module):
	def begun(*_args, **_names):
		if keras_backend() != "torch":
			step_begin()

	def ended(*_args, **_names):
		step_end("step: keras fit")

	def dropped(*_args, **_names):
		step_drop()

	if keras_backend() == "torch":
		fact_add("keras-backend", "torch")
	replace_needed(module.CallbackList, "on_train_batch_begin", "", 0, UNTIMED, begun)
	replace_needed(module.CallbackList, "on_train_batch_end", "", 0, UNTIMED | BEFORE, ended)
	for name in ("on_epoch_end", "on_train_end", "on_train_begin"):
		replace(module.CallbackList, name, "", 0, UNTIMED | BEFORE, dropped)


# XGBoost: an iterator with a cache on disk, which the rounds read.


def data_iterator_made(_iterator, cache_prefix=None, *_rest, **_names):
	if cache_prefix is not None:
		fact_add("dataset", "external memory")


def boosters_imported(module):
	replace(module.DataIter, "__init__", "", 0, UNTIMED, data_iterator_made)


# Grain: each transformation has an iterator of its own, and the loop calls the last one.


def subclasses_of(cls):
	for each in cls.__subclasses__():
		yield each
		yield from subclasses_of(each)


def grain_imported(module):
	base = sys.modules["grain._src.python.dataset.dataset"].DatasetIterator
	for cls in list(subclasses_of(base)):
		if "__next__" in vars(cls):
			replace(cls, "__next__", "grain next", phases["loader_next"], OUTERMOST)


def keras_epochs_imported(module):
	cls = getattr(module, "JAXEpochIterator", None)
	if cls is not None:
		flags = ITERATE | OUTERMOST
		replace(cls, "_get_iterator", "keras next", phases["loader_next"], flags)


def keras_jax_imported(module):
	keras_trainer_imported(module)
	keras_epochs_imported(module)


TF_FUNCTIONS = "tensorflow.python.eager.polymorphic_function"
special = {
	"torch": torch_imported,
	"torch.utils.data._utils.fetch": fetch_imported,
	"torch.utils.data.dataloader": loader_imported,
	"torch.optim.optimizer": optimizer_imported,
	"torch.nn.modules.module": modules_imported,
	"torch._dynamo.convert_frame": convert_imported,
	"torch._dynamo.output_graph": graphs_imported,
	"torch.nn.parallel.distributed": parallel_imported,
	"torch.distributed.distributed_c10d": groups_imported,
	"jax._src.pjit": jit_imported,
	"jax._src.array": arrays_imported,
	"jax._src.profiler": annotations_imported,
	"jax._src.interpreters.ad": gradients_imported,
	TF_FUNCTIONS + ".polymorphic_function": graph_functions_imported,
	"tensorflow.python.eager.backprop": tape_imported,
	"tensorflow.python.eager.context": contexts_imported,
	"tensorflow.python.eager.executor": executors_imported,
	"tensorflow.python.distribute.mirrored_run": replicas_imported,
	"keras.src.optimizers.base_optimizer": keras_optimizer_imported,
	"keras.src.backend.tensorflow.trainer": keras_trainer_imported,
	"keras.src.backend.jax.trainer": keras_jax_imported,
	"keras.src.callbacks.callback_list": keras_callbacks_imported,
	"xgboost.core": boosters_imported,
	"grain": grain_imported,
	"grain.python": grain_imported,
	"opacus.optimizers.optimizer": private_step_imported,
	"paddle.base.executor": static_executor_imported,
	"paddle.io.dataloader.fetcher": fetch_imported,
	"paddle.optimizer.optimizer": paddle_optimizer_imported,
	"paddle.profiler.utils": record_event_imported,
	"paddle.nn.layer.layers": layers_imported,
	"paddle._C_ops": operators_imported,
	# The name that it takes over from what it copies.
	"paddle.base.libpaddle.pir.ops": operators_imported,
	"paddle.tensor": tensor_imported,
}


# A framework whose steps come from names that a version does not have is only loaded.

GIVE_STEPS = (
	"torch",
	"jax._src.pjit",
	TF_FUNCTIONS + ".polymorphic_function",
	"tensorflow.python.eager.backprop",
	"keras.src.callbacks.callback_list",
)
giving = set()  # frameworks whose steps are recorded
named = set()


def framework_named(name, module):
	named.add(name)
	version = getattr(module, "__version__", "")
	framework_add(frameworks[name], version if isinstance(version, str) else "", name in giving)


def steps_given(module):
	name = module.__name__.partition(".")[0]
	if name in frameworks and name not in giving:
		giving.add(name)
		if name in named:
			attempt(framework_named, name, sys.modules.get(name))


def special_called(module):
	name = module.__name__
	try:
		special[name](module)
	except Exception:
		coverage_add("framework-names", "failed", name)
	else:
		if name in GIVE_STEPS:
			steps_given(module)


def imported(module):
	name = module.__name__
	wrap_calls(module, wanted.get(name, ()))
	if name in special:
		special_called(module)
	if name in frameworks:
		attempt(framework_named, name, module)


# The watch on imports. C code answers for the modules that are not wanted; for the others the
# loader's exec_module is ours until it has run once.


def found(name, path=None, target=None):
	for finder in sys.meta_path:
		find = getattr(finder, "find_spec", None)
		spec = find(name, path, target) if find and finder is not Watch else None
		if spec is not None:
			attempt(loader_watched, spec.loader)
			return spec
	return None


def loader_watched(loader):
	def after(module):
		attempt(delattr, loader, "exec_module")
		attempt(imported, module)

	loader.exec_module = wrap(loader.exec_module, "", 0, UNTIMED, after)


for line in calls.splitlines():
	module, path, phase, label = line.split("\t")
	wanted.setdefault(module, []).append((path, phases[phase], label))
for item in (functions or "").split(","):
	module, colon, path = item.strip().partition(":")
	row = (path, phases["function"], path)
	if item.strip():
		coverage_add("functions", "wanted", item.strip())
	if module == "__main__" and path:
		later.append(row)
		first_names.add(path.rpartition(".")[2])
	elif colon:
		wanted.setdefault(module, []).append(row)
for module in [*special, *frameworks]:
	wanted.setdefault(module, [])


class Watch:
	find_spec = staticmethod(find_spec(wanted, found))


sys.meta_path.insert(0, Watch)
for module in [sys.modules[name] for name in wanted if name in sys.modules]:
	spec = getattr(module, "__spec__", None)
	if not getattr(spec, "_initializing", False):
		attempt(imported, module)
	elif module.__name__ in frameworks:
		attempt(framework_named, module.__name__, module)
if later and sys.getprofile() is None:
	sys.setprofile(first_calls_watched)
