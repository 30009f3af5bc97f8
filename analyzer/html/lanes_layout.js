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
		name: timeline.names[e[4]],
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
