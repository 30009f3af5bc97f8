# SPDX-License-Identifier: Apache-2.0
# stageprof doctor's child, as `python -c`: reads a file, decodes an image, and reports its modules.
# Arguments: the file to write to, the file to read, how many reads of how many bytes, the
# frameworks whose steps are not recorded ("MODULE=TITLE,..."), and the words of COMMAND.
import ast
import importlib.util
import os
import sys

out = open(sys.argv[1], "w")


def report(name, value):
    out.write("%s\t%s\n" % (name, str(value).replace("\n", " ")))


report("executable", sys.executable)
report("python", ".".join(map(str, sys.version_info[:3])))
report("implementation", sys.implementation.name)
with open(sys.argv[2], "rb", buffering=0) as data:
    for _ in range(int(sys.argv[3])):
        data.read(int(sys.argv[4]))



def imports(path):
    """The packages that a script imports by name, wherever it does."""
    found = set()
    try:
        with open(path, "rb") as text:
            nodes = list(ast.walk(ast.parse(text.read())))
    except (OSError, SyntaxError, ValueError):
        return found
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def version_of(package):
    """The version of an installed package, without the import, which takes seconds."""
    try:
        from importlib.metadata import version

        return version(package)
    except Exception:
        return "of unknown version"


frameworks = dict(item.split("=") for item in sys.argv[5].split(",") if item)
scripts = [word for word in sys.argv[6:] if word.endswith(".py")][:1]
named = set().union(*map(imports, scripts)) if scripts else set()
for module, title in frameworks.items():
    if importlib.util.find_spec(module) is not None:
        kind = "imported framework" if module in named else "installed framework"
        report(kind, title + " " + version_of(module))

# In a trainer's order. Doctor discards the output of imports.
for module in (
    "torch",
    "torchvision",
    "paddle",
    "PIL.Image",
    "cv2",
    "h5py",
    "av",
    "decord",
    "turbojpeg",
    # TensorFlow's decoders lie inside it.
    *(module for module in ("tensorflow",) if module in named),
):
    package = module.split(".")[0]
    try:
        if importlib.util.find_spec(package) is None:
            continue
        __import__(module)
        report(package, getattr(sys.modules[package], "__version__", "of unknown version"))
    except BaseException as error:
        report(package + " fails", "%s: %s" % (type(error).__name__, error))

if "PIL.Image" in sys.modules:
    try:
        import io

        image = io.BytesIO()
        sys.modules["PIL.Image"].new("RGB", (32, 32)).save(image, "JPEG")
        image.seek(0)
        sys.modules["PIL.Image"].open(image).load()
        report("decoded", 1)
    except Exception as error:
        report("not decoded", error)

if "torch" in sys.modules:
    with sys.modules["torch"].autograd.profiler.record_function("stageprof doctor"):
        pass

with open("/proc/self/maps") as maps:
    for path in sorted(
        {line.split(None, 5)[5].strip() for line in maps if ".so" in line and "/" in line}
    ):
        report("object", path)
out.close()
