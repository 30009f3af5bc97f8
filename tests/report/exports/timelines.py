# SPDX-License-Identifier: Apache-2.0
"""Timelines and folded stacks against the report: the same events, the same time, by stage.

Perfetto's file is decoded by protoc and drawn as its trace processor does: packets in the order of
time, each end closes what was begun last on its track. STAGEPROF_TEST_TRACE_PROCESSOR names a
trace_processor_shell to ask, where there is one.
"""

import ast
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import runs

TRACE_PROCESSOR = os.environ.get("STAGEPROF_TEST_TRACE_PROCESSOR") or shutil.which(
    "trace_processor_shell"
)
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
Slice = collections.namedtuple("Slice", "track start end category name arguments flows ends depth")


def value(text):
    return ast.literal_eval("b" + text).decode() if text[0] == '"' else int(text)


def parse(lines):
    """protoc's text format as lists of (name, value); a number as a name is a field that the schema
    lacks."""
    found = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return found
        if line.endswith(" {"):
            name, what = line[:-2], parse(lines)
        else:
            name, what = line.split(": ", 1)
            what = value(what)
        assert not name.isdigit(), f"unknown field {name}"
        found[name].append(what)
    return found


def one(message, name, otherwise=None):
    assert len(message[name]) <= 1, (name, message)
    return message[name][0] if message[name] else otherwise


class Perfetto:
    def __init__(self, data):
        done = subprocess.run(
            ["protoc", f"-I{runs.HERE}", "--decode=stageprof.Trace", "perfetto.proto"],
            input=data,
            stdout=subprocess.PIPE,
            check=True,
        )
        packets = parse(iter(done.stdout.decode().splitlines()))["packet"]
        self.tracks, self.slices, self.counters, self.instants = {}, [], collections.Counter(), []
        self.names = collections.defaultdict(dict)
        events = []
        for at, packet in enumerate(packets):
            self.learn(packet)
            event = one(packet, "track_event")
            if event:
                events.append((one(packet, "timestamp"), at, event))
        self.draw(sorted(events, key=lambda e: e[:2]))

    def learn(self, packet):
        for interned in packet["interned_data"]:
            for kind, entries in interned.items():
                for entry in entries:
                    text = one(entry, "name", one(entry, "str"))
                    assert (
                        self.names[kind].setdefault(one(entry, "iid"), text) == text
                    ), "an id with two names"
        for track in packet["track_descriptor"]:
            parent = one(track, "parent_uuid")
            assert parent is None or parent in self.tracks, "a parent comes later"
            self.tracks[one(track, "uuid")] = track

    def arguments(self, event):
        for argument in event["debug_annotations"]:
            name = self.names["debug_annotation_names"][one(argument, "name_iid")]
            if argument["string_value_iid"]:
                yield name, self.names["debug_annotation_string_values"][
                    argument["string_value_iid"][0]
                ]
            else:
                yield name, next(v[0] for k, v in argument.items() if k.endswith("_value") and v)

    def draw(self, events):
        open_slices = collections.defaultdict(list)
        for at, _, event in events:
            track, kind = one(event, "track_uuid"), one(event, "type")
            assert track in self.tracks, "an event on no track"
            if kind == BEGIN:
                open_slices[track].append((at, event))
            elif kind == END:
                start, begun = open_slices[track].pop()
                self.slices.append(self.slice(track, start, at, begun, len(open_slices[track])))
            elif kind == COUNTER:
                self.counters[one(self.tracks[track], "name")] += one(event, "counter_value")
            else:
                self.instants.append(dict(self.arguments(event)))
        assert not any(open_slices.values()), "a slice does not end"

    def slice(self, track, start, end, event, depth):
        category = one(event, "category_iids")
        name = one(event, "name")
        return Slice(
            track,
            start,
            end,
            self.names["event_categories"][category] if category else None,
            self.names["event_names"][one(event, "name_iid")] if name is None else name,
            dict(self.arguments(event)),
            event["flow_ids"],
            event["terminating_flow_ids"],
            depth,
        )


def add_up(rows):
    """(stage, ns) to the report's sums."""
    calls, total = collections.Counter(), collections.Counter()
    for stage, ns in rows:
        calls[stage] += 1
        total[stage] += ns
    return {stage: runs.Sum(calls[stage], total[stage]) for stage in calls}


def on_threads(name):
    """The stages on a timeline. A CUDA stream's busy times are no calls of a thread.
    """
    return {stage: sums for stage, sums in runs.stages(name).items() if stage != "gpu_span"}


class Timelines(unittest.TestCase):
    maxDiff = None

    def assert_sums(self, drawn, name):
        """The report's; where a GPU's work ends is rounded so that the next can begin there: 1 ns
        each."""
        told = on_threads(name)
        self.assertEqual(
            {s: sums.calls for s, sums in drawn.items()},
            {s: sums.calls for s, sums in told.items()},
        )
        for stage, sums in told.items():
            slack = sums.calls if stage.startswith("gpu_") else 0
            self.assertAlmostEqual(drawn[stage].total_ns, sums.total_ns, delta=slack, msg=stage)

    def perfetto(self, name):
        trace = Perfetto(runs.export(name, "perfetto"))
        rows = [s for s in trace.slices if s.category]
        self.assert_sums(
            add_up((s.category, s.arguments.get("inside_ns", s.end - s.start)) for s in rows), name
        )
        run = runs.view(name, "summary")["run"]
        self.assertEqual(trace.counters["bytes read in 100 ms"], run["read_bytes"])
        self.assertEqual(trace.counters["bytes written in 100 ms"], run["written_bytes"])
        told = trace.instants[0]
        self.assertEqual(
            (told["events"], told["events_lost"]), (run["events_recorded"], run["events_lost"])
        )
        return trace

    def steps(self, trace, name):
        told = [(s["index"], s["wall_ns"]) for s in runs.view(name, "steps")["steps"]]
        drawn = [
            (int(s.name[5:]), s.end - s.start)
            for s in trace.slices
            if re.fullmatch(r"step \d+", s.name)
        ]
        self.assertEqual(sorted(drawn), sorted(told))
        self.assertGreater(len(drawn), 5)

    def test_perfetto_real(self):
        trace = self.perfetto("real")
        self.steps(trace, "real")
        fetches = {flow: s for s in trace.slices for flow in s.flows}
        arrivals = {flow: s for s in trace.slices for flow in s.ends}
        self.assertEqual(len(fetches), 12, "two epochs of six batches")
        self.assertEqual(set(arrivals), set(fetches))
        for flow, fetch in fetches.items():
            self.assertEqual(fetch.name, "DataLoader fetch")
            self.assertLess(fetch.end, arrivals[flow].start)

    def test_perfetto_killed(self):
        self.steps(self.perfetto("killed"), "killed")

    def launches_and_works(self, pairs):
        """(launch, work) by correlation: each work begins after its call did; a graph's call has
        two."""
        self.assertEqual(collections.Counter(len(w) for _, w in pairs), {1: 5 * 20, 2: 20})
        for call, works in pairs:
            for start in works:
                self.assertLess(call, start)

    def test_perfetto_gpu(self):
        trace = self.perfetto("gpu")
        works = [s for s in trace.slices if s.category and s.category.startswith("gpu_")]
        names = {one(trace.tracks[s.track], "name") for s in works}
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"^GPU 0 stream \d+$")
        calls = {flow: s for s in trace.slices for flow in s.flows}
        by_call = collections.defaultdict(list)
        for work in works:
            [flow] = work.ends
            self.assertEqual(work.arguments["correlation"], calls[flow].arguments["correlation"])
            by_call[flow].append(work.start)
        self.launches_and_works([(calls[flow].start, starts) for flow, starts in by_call.items()])

    def test_perfetto_golden(self):
        self.perfetto("golden")

    def test_perfetto_hostile(self):
        trace = self.perfetto("hostile")
        overlapping = {s.track for s in trace.slices} - {
            one(t, "uuid") for t in trace.tracks.values() if t["thread"]
        }
        self.assertGreater(len(overlapping), 1)
        shown = json.dumps([trace.names, list(trace.tracks.values())], ensure_ascii=False).encode()
        for what, text in runs.FORBIDDEN.items():
            self.assertNotIn(text, shown, what)

    def test_nesting(self):
        """Slices that begin in the same ns, and slices without a duration, keep their nesting."""
        trace = self.perfetto("hostile")
        first = [
            s for s in trace.slices if s.arguments.get("bytes") == 10 and s.end - s.start == 100
        ]
        self.assertEqual([s.depth for s in first], [3])

    @unittest.skipUnless(TRACE_PROCESSOR, "no trace_processor_shell")
    def test_trace_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, query = os.path.join(folder, "trace"), os.path.join(folder, "query")
            with open(trace, "wb") as file:
                file.write(runs.export("real", "perfetto"))
            with open(query, "w") as file:
                file.write(
                    "select category, count(*) calls from slice where category is not null group by 1;"
                )
            out = subprocess.run(
                [TRACE_PROCESSOR, "-q", query, trace], stdout=subprocess.PIPE, check=True
            ).stdout
        found = dict(re.findall(r'"(\w+)",(\d+)', out.decode()))
        self.assertEqual(
            {stage: int(n) for stage, n in found.items()},
            {k: v.calls for k, v in runs.stages("real").items()},
        )

    def chrome(self, name):
        text = gzip.decompress(runs.export(name, "chrome"))
        for what, bad in runs.FORBIDDEN.items():
            self.assertNotIn(bad, text, what)
        self.assertNotIn(b"</script", text)
        trace = json.loads(text, parse_float=str)
        rows = [e for e in trace["traceEvents"] if e["ph"] == "X" and "stage" in e.get("args", {})]
        ns = lambda e: e["args"].get("inside_ns", int(e["dur"].replace(".", "")))
        self.assert_sums(add_up((e["args"]["stage"], ns(e)) for e in rows), name)
        self.assertEqual(
            trace["stageprof"]["events_lost"], runs.view(name, "stages")["run"]["events_lost"]
        )
        self.nest(rows)
        return trace

    def nest(self, rows):
        """In each lane, in the order of time, any two lie in each other or are apart."""
        lanes = collections.defaultdict(list)
        for e in rows:
            start = int(e["ts"].replace(".", ""))
            lanes[e["pid"], e["tid"]].append((start, start + int(e["dur"].replace(".", ""))))
        for lane in lanes.values():
            ends = []
            for start, end in sorted(lane, key=lambda s: (s[0], -s[1])):
                while ends and ends[-1] <= start:
                    ends.pop()
                self.assertTrue(not ends or end <= ends[-1], "two overlap")
                ends.append(end)

    def test_chrome_real(self):
        trace = self.chrome("real")
        steps = [
            e["name"] for e in trace["traceEvents"] if e.get("name", "").startswith("ProfilerStep#")
        ]
        self.assertEqual(steps, [f"ProfilerStep#{i}" for i in range(12)])
        starts, ends = (
            {e["id"] for e in trace["traceEvents"] if e["ph"] == phase} for phase in "sf"
        )
        self.assertEqual(len(ends), 12)
        self.assertEqual(starts, ends)

    def test_chrome_gpu(self):
        events = self.chrome("gpu")["traceEvents"]
        on_gpu = [
            e
            for e in events
            if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and e["ph"] == "X"
        ]
        calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime"}
        self.assertEqual(
            len(calls), sum(e.get("cat") == "cuda_runtime" for e in events), "each has its own"
        )
        by_call, ns = collections.defaultdict(list), collections.Counter()
        for e in on_gpu:
            by_call[e["args"]["correlation"]].append(float(e["ts"]))
            ns[e["name"]] += int(e["dur"].replace(".", ""))
            self.assertEqual((e["tid"], 0), (e["args"]["stream"], e["args"]["device"]))
        self.launches_and_works([(float(calls[c]["ts"]), starts) for c, starts in by_call.items()])
        told = {k["name"]: k["total_ns"] for k in runs.view("gpu", "kernels")["kernels"]}
        alike = {
            "Memcpy HtoD (Unknown -> Device)": "GPU copy H2D",
            "Memcpy DtoH (Device -> Unknown)": "GPU copy D2H",
        }
        alike["Memset (Device)"] = "GPU memset"
        self.assertEqual({alike.get(name, name) for name in ns}, set(told))
        for name, total_ns in ns.items():
            self.assertAlmostEqual(
                total_ns, told[alike.get(name, name)], delta=len(on_gpu), msg=name
            )
        flows = [
            [(e["id"]) for e in events if e.get("cat") == "ac2g" and e["ph"] == phase]
            for phase in "sf"
        ]
        # Launches that a stream captured give no work themselves.
        self.assertEqual(
            (set(flows[1]) - set(flows[0]), len(flows[0]) - len(set(flows[1]))), (set(), 2 * 20)
        )

    def test_chrome_killed(self):
        self.chrome("killed")

    def test_chrome_hostile(self):
        self.chrome("hostile")

    def folded(self, name):
        text = runs.export(name, "folded")
        for what, bad in runs.FORBIDDEN.items():
            self.assertNotIn(bad, text, what)
        for line in text.decode().splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]*)+ \d+$")
        return [
            (line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1]))
            for line in text.decode().splitlines()
        ]

    def check_folded(self, name):
        """Time in a function, with what it called, from the stacks and from the events."""
        stacks, told = collections.Counter(), collections.Counter()
        for frames, ns in self.folded(name):
            for frame in frames[1:]:
                stacks[frame] += ns
        for event in runs.view(name, "dump")["events"]:
            # Page faults and time without a core are no calls.
            if event["stage"] in ("mapped_read", "off_core"):
                continue
            told[
                event["label"] if event["stage"] == "range" and event["label"] else event["event"]
            ] += event["dur_ns"]
        self.assertEqual(
            {k: v for k, v in stacks.items() if v}, {k: v for k, v in told.items() if v}
        )

    def test_folded_real(self):
        self.check_folded("real")

    def test_folded_killed(self):
        self.check_folded("killed")

    def test_folded_hostile(self):
        self.folded("hostile")


unittest.main()
