/* SPDX-License-Identifier: Apache-2.0 */
/* Where the timeline's events stand: which row of their lane, and which group. */

Page.groups = [
	{ name: "range", path: "", has: (s) => s === "range" },
	{ name: "files", path: "M0 8L8 0",
		has: (s) => /^(file|import|hdf5|mmap|munmap|dup|device|proc|unknown)/.test(s) },
	{ name: "decode", path: "M0 0L8 8", has: (s) => /decode|decompress/.test(s) },
	{ name: "gpu", path: "M4 0V8", has: (s) => /^(cuda|nccl)/.test(s) },
	{ name: "wait", path: "M2 2h1v1h-1zM6 6h1v1h-1z", has: (s) => s === "wait" },
	{ name: "other", path: "M0 4H8", has: () => true },
];

Page.rowsMax = 6;

/* Events of a lane as rows in which none overlaps another; what has no room goes to the last. */
Page.layOut = function (lane, timeline) {
	const rows = [], ends = [];
	const events = [...lane.inside, ...lane.outside].map((e) => ({
		from: e[0], to: e[0] + e[1], dur: e[1],
		kind: timeline.kinds[e[2]] || "kind-" + e[2],
		stage: timeline.stages[e[3]],
		group: Page.groups.findIndex((g) => g.has(timeline.stages[e[3]])),
		name: Page.isIdle(lane, timeline.stages[e[3]]) ? Page.say("idle") : timeline.names[e[4]],
		value: e[5],
	}));

	events.sort((a, b) => a.from - b.from || b.dur - a.dur);
	for (const event of events) {
		let row = ends.findIndex((end) => end <= event.from);

		if (row < 0)
			row = Math.min(ends.length, Page.rowsMax - 1);
		ends[row] = Math.max(ends[row] || 0, event.to);
		(rows[row] = rows[row] || []).push(event);
	}
	return rows;
};

Page.laneName = (lane) => lane.role === "thread" && lane.name ? lane.name : Page.say(lane.role);

/* A pipe is called by the threads that it joins, where they are drawn. */
Page.namePipes = function (lanes) {
	const users = new Map(), events = lanes.flatMap((item) => item.rows.flat());
	const isPipe = (event) => /^pipe:\[/.test(event.name);

	for (const item of lanes)
		for (const event of item.rows.flat().filter(isPipe))
			users.set(event.name, (users.get(event.name) || new Set()).add(Page.laneName(item.lane) + " " + item.lane.pid));
	for (const event of events.filter(isPipe))
		if (users.get(event.name).size > 1)
			event.name = Page.say("pipe", Array.from(users.get(event.name)).join(" \u2013 "));
};

/* A worker that waits for an index, or a helper thread that waits for work, is idle. */
Page.isIdle = function (lane, stage) {
	return lane.role !== "trainer" && (stage === "wait" || stage === "ipc_read");
};

/*
 * The phases of the first lane's trainer: its timeline, which has each instant once. Outside of the part of the timeline
 * that a long run has on the page, a step's phases follow each other in their usual order, each drawn once.
 */
Page.phases = function (steps, training, lane) {
	const own = lane && training.trainers.find((t) => t.pid === lane.pid && t.tid === lane.tid);
	const list = own ? own.phases.map(([from, ns, part]) => ({ from: from, to: from + ns, part: part,
		title: training.parts[part].title })) : [];
	const from = list.length ? list[0].from : Infinity, to = list.length ? list[list.length - 1].to : -Infinity;
	const order = ["loader_wait", "h2d_copy", "zero_grad", "forward", "loss", "backward", "grad_sync", "optimizer", "sync_wait",
		"checkpoint", "validation", "other"];
	const rank = (name) => order.indexOf(name) < 0 ? order.length : order.indexOf(name);
	const parts = training.parts.map((p, i) => i).sort((a, b) => rank(training.parts[a].part) - rank(training.parts[b].part) || a - b);
	const isOutside = (item) => item.start_ns + (item.wall_ns || 0) <= from || item.start_ns >= to;
	const validation = training.parts.findIndex((p) => p.part === "validation");

	for (const step of own ? steps.filter((s) => s.pid === lane.pid && s.tid === lane.tid && isOutside(s)) : []) {
		let at = step.start_ns;

		for (const part of parts) {
			const ns = step.parts[training.parts[part].part];

			if (ns)
				list.push({ from: at, to: at += ns, part: part, title: training.parts[part].title });
		}
	}
	for (const pause of own ? own.pauses : [])
		if (pause.is_validation && isOutside(pause))
			list.push({ from: pause.start_ns, to: pause.end_ns, part: validation,
				title: training.parts[validation].title });
	return list.sort((a, b) => a.from - b.from);
};

/* The first event of a row that ends at or after an instant. */
Page.firstAt = function (row, at) {
	let low = 0, high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (row[middle].to < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
};
