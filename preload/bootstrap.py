# Runs once in the host's interpreter, with the GIL held, in a namespace of its own (python.c). It may
# import nothing that the host has not imported, print nothing, and leave no exception.
#
# From C: wrap(function, label, part, flags, after), find_spec(wanted, found), torch_attach(version),
# torch_compiled(), cover(group, state, detail), range_begin(), range_end(begun, kind, name), calls
# (python.def), functions and modules (the settings or None), parts (name -> number), MODULE_FORWARD,
# PYTHON_CALL.

import sys
from _thread import get_ident

UNTIMED, ITERATE, INLINE, IMAGE = 1, 2, 4, 8
Function = type(lambda: None)
Timed = type(wrap(len, "", 0, UNTIMED, None))
GENERATOR = 0x20 | 0x80 | 0x200  # co_flags: generator, coroutine, asynchronous generator

wanted = {}  # module -> [(path, part, label)]
replaced = {}  # (class, name) -> the method that was there


def replace(owner, name, label, part, flags=0, after=None):
	"""Puts a timed callable in the place of owner.name, if it is there and its own."""
	value = vars(owner)[name] if name in vars(owner) else inherited(owner, name)
	kind = type(value)
	# Of a method torch.compile would call what it finds there without its instance.
	if plain(value) and not isinstance(owner, type):
		flags |= INLINE
	if value is None or kind is Timed or not (callable(value) or kind in (staticmethod, classmethod)):
		return
	if kind in (staticmethod, classmethod):
		if type(value.__func__) is not Timed:
			setattr(owner, name, kind(wrap(value.__func__, label, part, flags, after)))
	elif isinstance(owner, type) and not hasattr(kind, "__get__"):
		setattr(owner, name, staticmethod(wrap(value, label, part, flags, after)))
	elif not isinstance(value, type):
		if isinstance(owner, type):
			replaced[owner, name] = value
		setattr(owner, name, wrap(value, label, part, flags, after))


def inherited(owner, name):
	"""What a class above had before it was replaced: the time of one call is not taken twice."""
	for cls in getattr(owner, "__mro__", ()):
		if (cls, name) in replaced:
			return replaced[cls, name]


def plain(value):
	"""The Python function behind a class's or module's attribute, or None."""
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


def wrap_calls(module, rows):
	# Its decoders are told the kind by what they are given; in its wheels the libraries are out of sight.
	flags = IMAGE if module.__name__ == "cv2" else 0
	for path, part, label in rows:
		pair = attempt(owner_of, module, path)
		if pair:
			attempt(replace, *pair, label, part, flags)


# The dataset's own code: its methods that make items, and the functions of its module and the other
# methods that those name, however deep. Only code below the loader is touched: what a model calls may
# be traced by torch.compile.

OWN = ("__getitem__", "__getitems__", "__iter__", "__next__")
LIBRARIES = ("torch.", "builtins.", "abc.", "typing.", "numpy.", "paddle.", "collections.")
depth_asked = int(modules) if modules and modules.isdigit() else 0
seen = set()  # ids of code objects and classes that were looked at; they live as long as the process


def names_in(code):
	names = set(code.co_names)
	for const in code.co_consts:
		if type(const) is type(code):
			names |= names_in(const)
	return names


def reach(function, classes, part):
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
				reach_one(cls, name, classes, part)
		if module is not None and vars(module) is space:
			found = plain(space.get(name))
			if found and found.__module__ == module.__name__:
				reach_one(module, name, classes, part)


def reach_one(owner, name, classes, part, flags=0):
	function = plain(vars(owner).get(name))
	if function is None:
		return
	reach(function, classes, part)
	if function.__code__.co_flags & GENERATOR and not flags:
		return
	replace(owner, name, function.__qualname__, part, flags)


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
				replace(cls, name, cls.__qualname__, parts["transform"])


def explore(dataset, depth=0):
	classes = own_classes(dataset)
	for cls in classes:
		if cls in seen:
			continue
		seen.add(cls)
		for name in OWN:
			flags = ITERATE if name == "__iter__" else 0
			reach_one(cls, name, classes, parts["dataset"], flags)
	if depth > 4:
		return
	for name, value in list(getattr(dataset, "__dict__", {}).items()):
		if "transform" in name and callable(value) and type(value) is not Function:
			attempt(explore_transform, value)
		elif name in ("dataset", "_dataset") or (name == "datasets" and hasattr(value, "__getitem__")):
			for inner in value if name == "datasets" else [value]:
				explore(inner, depth + 1)


def fetcher_made(fetcher, dataset, auto_collation=None, collate_fn=None, *rest, **names):
	wrap_later()
	if collate_fn is not None and type(collate_fn) is not Timed:
		label = getattr(collate_fn, "__qualname__", type(collate_fn).__qualname__)
		fetcher.collate_fn = wrap(collate_fn, label, parts["collate"], 0, None)
		if type(collate_fn) is Function and not collate_fn.__module__.startswith(("torch.", "paddle.")):
			attempt(reach, collate_fn, [], parts["collate"])
	attempt(explore, dataset)


# The user's own functions, STAGEPROF_FUNCTIONS. Those of __main__ come to be while it runs: they are
# looked for again whenever training gets one step nearer.

later = []


def wrap_later(*_args, **_names):
	main = sys.modules.get("__main__")
	if main is not None:
		for path, part, label in list(later):
			pair = attempt(owner_of, main, path)
			if pair and pair[1] in vars(pair[0]):
				attempt(replace, *pair, label, part)
				later[:] = [row for row in later if row[0] != path]


# STAGEPROF_MODULES=depth: PyTorch's own hooks around each module's forward. Python functions: what they
# cost is the price of asking, and torch.compile ends its graphs at them.

paths = {}  # id of a module -> "path\tclass"; of roots for as long as they live under that id
stacks = {}  # thread -> modules that are in their forward


def module_shown(module, args, depth):
	if depth == 0 and paths.get(id(module), "\t") != "\t" + type(module).__qualname__:
		for path, inner in module.named_modules():
			paths[id(inner)] = path + "\t" + type(inner).__qualname__
	shown = paths.get(id(module)) or "?\t" + type(module).__qualname__
	shapes = [str(list(a.shape)) for a in args if hasattr(a, "shape")]
	return shown + "\t" + " ".join(shapes)


def module_entered(module, args):
	stack = stacks.setdefault(get_ident(), [])
	shown = module_shown(module, args, len(stack)) if len(stack) < depth_asked else None
	stack.append((module, shown, range_begin() if shown else None))


def module_left(module, _args, _output):
	stack = stacks.get(get_ident(), [])
	# Before PyTorch 2.1 a forward that raised leaves what it entered.
	while stack:
		entered, shown, begun = stack.pop()
		if entered is module:
			if shown:
				range_end(begun, MODULE_FORWARD, shown)
			return


def modules_imported(module):
	if not depth_asked:
		return
	module.register_module_forward_pre_hook(module_entered)
	try:
		module.register_module_forward_hook(module_left, always_call=True)
	except TypeError:
		module.register_module_forward_hook(module_left)


# Whole modules: what is to be done besides the table's lines when they have been imported.


def torch_imported(module):
	torch_attach(getattr(module, "__version__", "0"))


def fetch_imported(module):
	base = getattr(module, "_BaseDatasetFetcher", None) or module._DatasetFetcher
	replace(base, "__init__", "", 0, UNTIMED, fetcher_made)


def graphs_imported(module):
	# Optimizers import dynamo where nothing is compiled; torch.export's graphs train nobody.
	def compiled(graph, *_rest, **_names):
		if not getattr(graph, "export", False):
			torch_compiled()

	replace(module.OutputGraph, "call_user_compiler", "", 0, UNTIMED, compiled)


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


def optimizer_made(optimizer, *_args, **_names):
	wrap_later()
	# PyTorch puts its own mark into the class when the first of it is made: it leaves out what leads there.
	for cls in type(optimizer).__mro__:
		if "step" in vars(cls):
			replace(cls, "step", cls.__qualname__ + ".step", parts["optimizer"])
			break


def optimizer_imported(module):
	replace(module.Optimizer, "__init__", "", 0, UNTIMED, optimizer_made)


special = {
	"torch": torch_imported,
	"torch.utils.data._utils.fetch": fetch_imported,
	"torch.optim.optimizer": optimizer_imported,
	"torch.nn.modules.module": modules_imported,
	"torch._dynamo.output_graph": graphs_imported,
	"paddle.io.dataloader.fetcher": fetch_imported,
	"paddle.profiler.utils": record_event_imported,
}


def imported(module):
	name = module.__name__
	wrap_calls(module, wanted.get(name, ()))
	if name in special:
		attempt(special[name], module)


# The watch on imports. C code answers for the modules that are not wanted; for the others the loader's
# exec_module is ours until it has run once.


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
	module, path, part, label = line.split("\t")
	wanted.setdefault(module, []).append((path, parts[part], label))
for item in (functions or "").split(","):
	module, colon, path = item.strip().partition(":")
	row = (path, parts["function"], path)
	if module == "__main__":
		later.append(row)
	elif colon:
		wanted.setdefault(module, []).append(row)
for module in special:
	wanted.setdefault(module, [])


class Watch:
	find_spec = staticmethod(find_spec(wanted, found))


sys.meta_path.insert(0, Watch)
for module in [sys.modules[name] for name in wanted if name in sys.modules]:
	spec = getattr(module, "__spec__", None)
	if not getattr(spec, "_initializing", False):
		attempt(imported, module)
