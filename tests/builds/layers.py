# SPDX-License-Identifier: Apache-2.0
"""layers.py SOURCE BUILD: every include of the programs' sources, and every call from one object
file of the build to another, against the table tests/builds/layers.txt.

Prints each violation as FILE:LINE: what is wrong; what to do. Exit status: 1 where there is one.
layers_test.py shows that each kind of violation is found."""

import fnmatch
import os
import re
import sys

import calls

TABLE = "tests/builds/layers.txt"
DOCUMENT = "docs/ARCHITECTURE.md"
SIDES = ("trace", "preload", "analyzer", "scripts/launcher", "scripts/sampler", "scripts/watch")
KINDS = (".c", ".h", ".def", ".S")
MOST = 40
INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]*)"|<([^>]*)>)')


def circles(graph):
    """The strongly connected components of more than one node (Tarjan), each as a sorted list."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def module_of(path):
    """x.c and x.h are one module; a table, x.def, is one by itself."""
    return re.sub(r"\.[chS]$", "", path)


class Table:
    """Lines of the table: `room NAME: ROOMS`, `debt NAME: ROOMS`, `circle: MODULES`, `call FILE:
    FUNCTIONS`, `header FILE: FUNCTIONS`, `data FOLDER:`, `generated FOLDER:`, `also FILE: FILES`,
    `only HEADER: FILES`."""

    def __init__(self, path):
        self.rooms, self.debts, self.circles, self.data, self.generated = {}, {}, [], set(), set()
        self.also, self.only = {}, {}
        self.excused = {"call": {}, "header": {}}
        self.lines, self.problems = {}, []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self.take(number, *(part.strip() for part in (line + "#").split("#")[:2]))

    def take(self, number, line, reason):
        if not line:
            return
        match = re.fullmatch(
            r"(room|debt|circle|call|header|data|generated|also|only)\s*(\S*)\s*:\s*(.*)", line
        )
        if not match:
            self.problems.append((number, f"not a line of this table: {line}"))
            return
        kind, name, words = match[1], match[2], match[3].split()
        self.lines[kind, name or " ".join(words)] = number
        if kind == "room":
            unknown = [word for word in words if word not in self.rooms]
            if unknown:
                self.problems.append(
                    (
                        number,
                        f"{name} may not use {' '.join(unknown)}: a room stands below its users; reorder",
                    )
                )
            self.rooms[name] = set(words)
        elif kind == "debt":
            self.debts[name] = set(words)
        elif kind == "circle":
            self.circles.append(set(words))
        elif kind in self.excused:
            self.excused[kind][name] = words
            if not reason:
                self.problems.append((number, f"{name}: add a # and the reason"))
        elif kind == "data":
            self.data.add(name)
        elif kind == "generated":
            self.generated.add(name)
        elif kind == "also":
            self.also[name] = set(words)
        else:
            self.only[name] = set(words)

    def below(self, room):
        """The rooms that a room reaches by the includes that its line and theirs allow."""
        reached, ahead = set(), list(self.rooms.get(room, ()))
        while ahead:
            other = ahead.pop()
            if other not in reached:
                reached.add(other)
                ahead += self.rooms[other]
        return reached


class Check:
    def __init__(self, root, build=None):
        self.root, self.build, self.table = root, build, Table(os.path.join(root, TABLE))
        self.found = []
        self.sources = {}  # room: its files
        self.room_arrows = {}  # (room, other): one include
        self.modules = {}  # module: {module that it includes: where}
        self.includers = {}  # header in <>: files

    def complain(self, path, line, text):
        self.found.append(f"{path}:{line}: {text}")

    def complain_of_table(self, kind, name, text):
        self.complain(TABLE, self.table.lines[kind, name], text)

    def run(self):
        for number, text in self.table.problems:
            self.complain(TABLE, number, text)
        for side in SIDES:
            self.find_sources(side)
        for paths in self.sources.values():
            for path in paths:
                self.read(path)
        self.check_rooms()
        self.check_document()
        self.check_circles()
        self.check_only()
        if self.build:
            self.check_calls()
        return self.found

    def find_sources(self, side):
        for folder, folders, names in os.walk(os.path.join(self.root, side)):
            folders[:] = sorted(f for f in folders if f != "__pycache__" and not f.startswith("."))
            room = os.path.relpath(folder, self.root)
            sources = sorted(f"{room}/{name}" for name in names if name.endswith(KINDS))
            if sources:
                self.sources[room] = sources
            if room in self.table.data:
                continue
            if (sources or room != side) and room not in self.table.rooms:
                first = sources[0] if sources else room
                self.complain(
                    first,
                    1,
                    f"the folder {room} is no room of {TABLE}: add a line `room {room}: ROOMS`",
                )

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if match and match[1]:
                    self.take_include(path, number, match[1])
                elif match:
                    self.includers.setdefault(match[2], []).append((path, number))

    def take_include(self, path, number, name):
        room, other = os.path.dirname(path), os.path.dirname(name)
        if other in self.table.generated or name in self.table.also.get(path, ()):
            return
        if not os.path.isfile(os.path.join(self.root, name)):
            self.complain(
                path,
                number,
                f'no file "{name}" from the root: write an include from the root of the tree',
            )
            return
        if other != room:
            debt = other in self.table.debts.get(room, ())
            if not debt and other not in self.table.rooms.get(room, ()):
                self.complain(
                    path,
                    number,
                    f"{room} may not include {other}: move the code to a room that may, or, if the arrow is right, "
                    f"add {other} to the line of {room} in {TABLE}",
                )
            self.room_arrows.setdefault((room, other), f"{path}:{number}")
        module, user = module_of(name), module_of(path)
        if module != user:
            self.modules.setdefault(user, {}).setdefault(module, f"{path}:{number}")

    def check_rooms(self):
        for room in self.table.rooms:
            sources = self.sources.get(room, ())
            if not sources:
                self.complain_of_table(
                    "room", room, f"{room} holds no source file: remove its line"
                )
            if len(sources) > MOST:
                text = f"{room} holds {len(sources)} source files, {MOST} are the most: split it by subject"
                self.complain_of_table("room", room, text)
        for room, others in self.table.debts.items():
            for other in sorted(others):
                if (room, other) not in self.room_arrows:
                    name = f"{room} includes {other} no more: remove it from the debts"
                    self.complain_of_table("debt", room, name)

    def check_document(self):
        with open(os.path.join(self.root, DOCUMENT), encoding="utf-8") as file:
            rows = re.findall(r"^\| `([^`]+?)/?` \|", file.read(), re.M)
        before = {}
        for room in self.table.rooms:
            if room in SIDES:
                continue
            side, name = room.split("/", 1)
            if name not in rows:
                text = f"{room} has no row in {DOCUMENT}: say there in a sentence what lives in it"
                self.complain_of_table("room", room, text)
                continue
            row = rows.index(name)
            above, lowest = before.get(side, (room, row))
            if side in ("preload", "analyzer") and row < lowest:
                text = f"{room} stands before {above} in {DOCUMENT}: keep one order in both"
                self.complain_of_table("room", room, text)
            before[side] = room, row

    def check_circles(self):
        graph = {}
        for room, other in self.room_arrows:
            if other not in self.table.debts.get(room, ()):
                graph.setdefault(room, set()).add(other)
        for circle in circles(graph):
            places = [
                place
                for (room, other), place in sorted(self.room_arrows.items())
                if {room, other} <= set(circle)
            ]
            path, number = places[0].rsplit(":", 1)
            text = f"a circle of rooms: {' '.join(circle)}, by the includes at {' '.join(places)}"
            self.complain(path, number, f"{text}: turn one of these arrows round")
        standing = circles({user: set(others) for user, others in self.modules.items()})
        for circle in standing:
            if any(set(circle) <= allowed for allowed in self.table.circles):
                continue
            inside = [
                place
                for user in circle
                for name, place in sorted(self.modules[user].items())
                if name in circle
            ]
            path, number = inside[0].rsplit(":", 1)
            text = f"a circle of files: {' '.join(circle)}, by the includes at {' '.join(inside)}"
            self.complain(
                path,
                number,
                f"{text}: move what both need to a third file, or declare it in {TABLE} with a reason",
            )
        for allowed in self.table.circles:
            if not any(set(circle) <= allowed for circle in standing):
                name = next(
                    k for k in self.table.lines if k[0] == "circle" and set(k[1].split()) == allowed
                )
                self.complain(
                    TABLE,
                    self.table.lines[name],
                    f"no circle of {name[1]} any more: remove the line",
                )

    def check_only(self):
        for header, allowed in self.table.only.items():
            users = self.includers.get(header, [])
            for path, number in users:
                if path not in allowed:
                    self.complain(
                        path, number, f"only {' and '.join(sorted(allowed))} may include <{header}>"
                    )
            for path in sorted(allowed - {path for path, _ in users}):
                self.complain_of_table(
                    "only", header, f"{path} does not include <{header}>: remove it here"
                )

    def check_calls(self):
        objects, missing = calls.objects_of(self.root, self.build, SIDES)
        for path in missing:
            self.complain(path, 1, f"no object file of it: build all of {self.build} first")
        defined, used = calls.symbols_of(objects)
        for name, paths in sorted(defined.items()):
            if len(paths) > 1:
                first, *others = sorted(paths)
                text = f"{name} is defined in {' and '.join(others)} too: rename one of them"
                self.complain(first, self.line_of(first, name), text)
        arrows = self.without_excused("call", calls.arrows_of(defined, used))
        for (user, other), names in sorted(arrows.items()):
            room, below = os.path.dirname(user), os.path.dirname(other)
            if below not in {room, *self.table.below(room)}:
                text = f"uses {' '.join(sorted(names))} of {other}, and {room} stands below {below}"
                advice = "take it as an argument, or let the upper room set a pointer"
                self.complain(user, self.line_of(user, min(names)), f"{text}: {advice}")
        self.check_circles_of_calls(arrows)
        self.check_headers(defined)

    def line_of(self, path, name):
        """The first line that has the name; 1: none has it, a header's or a macro's text does."""
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if re.search(rf"\b{name}\b", line):
                    return number
        return 1

    def without_excused(self, kind, arrows):
        """The arrows without the names that the table's lines of this kind excuse."""
        left, excuses = {}, self.table.excused[kind]
        unused = {(user, name) for user, names in excuses.items() for name in names}
        for (user, other), names in arrows.items():
            patterns = excuses.get(user, ())
            excused = {n for n in names for p in patterns if fnmatch.fnmatchcase(n, p)}
            unused -= {(user, p) for p in patterns if fnmatch.filter(names, p)}
            if names - excused:
                left[user, other] = names - excused
        for user, name in sorted(unused):
            text = f"{user} needs no excuse for {name}: remove it here"
            self.complain_of_table(kind, user, text)
        return left

    def check_headers(self, defined):
        """A header declares what the .c file beside it defines."""
        arrows = {}
        headers = [path for paths in self.sources.values() for path in paths if path.endswith(".h")]
        for path in headers:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                declared = {name for name, _ in calls.declared_in(file.read())}
            for name in declared & set(defined):
                others = defined[name]
                if module_of(path) not in map(module_of, others):
                    arrows.setdefault((path, min(others)), set()).add(name)
        for (path, other), names in sorted(self.without_excused("header", arrows).items()):
            text = f"declares {' '.join(sorted(names))} of {other}: declare it in the header of"
            self.complain(path, self.line_of(path, min(names)), f"{text} {module_of(other)}")

    def check_circles_of_calls(self, arrows):
        graph = {}
        for user, other in arrows:
            graph.setdefault(user, set()).add(other)
        for nodes in circles(graph):
            way = calls.shortest_circle(nodes, arrows)
            steps = [
                f"{user} uses {' '.join(sorted(arrows[user, other]))} of {other}"
                for user, other in zip(way, way[1:] + way[:1])
            ]
            rest = f" ({len(nodes)} files call each other in all)" if len(nodes) > len(way) else ""
            first = min(arrows[way[0], way[1]])
            self.complain(
                way[0],
                self.line_of(way[0], first),
                f"a circle of calls: {', '.join(steps)}{rest}: move what both need to a file below, "
                "take it as an argument, or let the caller set a pointer",
            )


if __name__ == "__main__":
    found = Check(*sys.argv[1:]).run()
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(bool(found))
