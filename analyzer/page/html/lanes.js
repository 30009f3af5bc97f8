/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as lanes of events: the chart library has the axis, the zoom and the overview; this draws the events. */

Page.Lanes = class {
	static ROW = 15;
	static GAP = 9;

	static STRIP = 22; /* the phases of the steps, above the lanes */

	constructor(holder, timeline, steps, training) {
		this.holder = holder;
		this.timeline = timeline;
		this.strip = Page.phases(steps, training, timeline.lanes[0]);
		this.hidden = new Set();
		this.lanes = timeline.lanes.map((lane) => ({ lane: lane, rows: Page.layOut(lane, timeline) }));
		Page.namePipes(this.lanes);
		this.found = [];
		this.build();
		this.place(0, Infinity);
		this.draw(steps);
		this.show(timeline.window ? [timeline.window.start_ns / 1e9, timeline.window.end_ns / 1e9] : null);
	}

	/* A lane is as high as what it shows. from, to: ns. */
	place(from, to) {
		let y = 4 + (this.strip.length ? Page.Lanes.STRIP + Page.Lanes.GAP : 0);

		for (const item of this.lanes) {
			const there = (row) => {
				const i = Page.firstAt(row, from);

				return i < row.length && row[i].from < to;
			};

			const rows = item.rows.findLastIndex(there) + 1;

			/* a lane with nothing in the window folds */
			item.y = y;
			item.isFolded = rows === 0 && item !== this.lanes[0];
			item.height = item.isFolded ? 0 : Math.max(1, rows) * Page.Lanes.ROW;
			if (item.element) {
				item.element.classList.toggle("folded", item.isFolded);
				item.element.style.height = item.height + Page.Lanes.GAP + "px";
			}
			y += item.isFolded ? 0 : item.height + Page.Lanes.GAP;
		}
		return y + 80;
	}

	/* After each drawing: when other lanes are high, once more. */
	fit(chart) {
		const [from, to] = chart.xAxisRange();
		const height = this.place(from * 1e9, to * 1e9);

		if (height === this.height)
			return;
		this.height = height;
		this.canvas.style.height = height + "px";
		chart.resize();
	}

	build() {
		this.readout = Page.element("p", { class: "readout", role: "status" });
		this.canvas = Page.element("div", { class: "chart lanes", tabindex: "0", role: "application" });
		this.canvas.setAttribute("aria-label", Page.say("lanes_keys"));
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		this.canvas.addEventListener("mousemove", (event) => this.hover(event));
		this.names = Page.element("div", { class: "lane-names" });
		if (this.strip.length)
			this.names.append(this.stripName());
		for (const item of this.lanes)
			this.names.append(item.element = this.nameOf(item));
		this.help = Page.element("p", { class: "help", hidden: "" }, Page.say("lanes_help"));
		this.holder.append(this.tools(), this.help, Page.element("div", { class: "lanes-frame" }, this.names, this.canvas),
			this.readout, this.leftOut());
	}

	stripName() {
		const name = Page.element("div", { class: "lane-name" }, Page.element("b", {}, Page.say("phases")));

		name.style.height = Page.Lanes.STRIP + Page.Lanes.GAP + "px";
		return name;
	}

	nameOf(item) {
		const lane = item.lane;
		const name = Page.element("div", { class: "lane-name" },
			Page.element("b", {}, Page.laneName(lane)), " " + lane.pid + (lane.tid !== lane.pid ? " / " + lane.tid : ""));

		name.title = lane.name;
		return name;
	}

	tools() {
		const tools = Page.element("div", { class: "tools" },
			Page.button(Page.say("lanes_all"), Page.say("lanes_all_hint"), () => this.show(null)));

		if (this.timeline.window)
			tools.append(Page.button(Page.say("lanes_window"), Page.say("lanes_window_hint"), () =>
				this.show([this.timeline.window.start_ns / 1e9, this.timeline.window.end_ns / 1e9])));
		tools.append(Page.button("\u2212", Page.say("zoom_out"), () => this.zoom(2)),
			Page.button("+", Page.say("zoom_in"), () => this.zoom(0.5)),
			Page.button("\u25C0", Page.say("earlier"), () => this.move(-0.3)),
			Page.button("\u25B6", Page.say("later"), () => this.move(0.3)),
			Page.button("?", Page.say("keys_hint"), () => this.toggleHelp()), this.search(),
			Page.button(Page.say("all_found"), Page.say("all_found_hint"), () => this.showFound()));
		const legend = Page.element("span", { class: "groups" });

		Page.groups.forEach((group, i) => legend.append(this.groupChoice(group, i)));
		tools.append(legend);
		return tools;
	}

	toggleHelp() {
		this.help.hidden = !this.help.hidden;
	}

	/* The text marks the events whose name has it; Enter goes from one to the next. */
	search() {
		const input = Page.element("input", { type: "search", placeholder: Page.say("search") });

		input.setAttribute("aria-label", Page.say("search"));
		input.addEventListener("input", () => this.find(input.value.toLowerCase()));
		input.addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				this.nextFound();
		});
		return input;
	}

	find(text) {
		const has = ({ event }) => (event.name + " " + event.kind).toLowerCase().includes(text);

		this.found = text ? this.lanes.flatMap((item) => item.rows.flatMap((events, row) => events.map((event, place) =>
			({ event: event, item: item, row: row, place: place })).filter(has))) : [];
		this.found.sort((a, b) => a.event.from - b.event.from);
		this.chart.updateOptions({});
		this.readout.textContent = !text ? "" : this.found.length ? this.sayFound() : Page.say("not_found", text);
	}

	sayFound() {
		return Page.say("found", Page.count(this.found.length), Page.ns(this.found.reduce((ns, f) => ns + f.event.dur, 0)));
	}

	nextFound() {
		const at = this.found.findIndex((f) => this.chosen && f.event === this.chosen.event) + 1;
		const next = this.found[at % this.found.length];

		if (!next)
			return;
		this.reveal(next.event);
		this.choose(next);
		this.readout.textContent = (at % this.found.length + 1) + " / " + this.sayFound() + " " + this.describe(next);
	}

	showFound() {
		if (this.found.length)
			this.showAround(this.found[0].event.from, Math.max(...this.found.map((f) => f.event.to)));
	}

	/* Some room is beside them. */
	showAround(from, to) {
		const room = Math.max(100, (to - from) * 0.2);

		this.show([Math.max(0, (from - room) / 1e9), Math.min(this.end, (to + room) / 1e9)]);
	}

	zoomToChosen() {
		if (this.chosen)
			this.showAround(this.chosen.event.from, this.chosen.event.to);
	}

	groupChoice(group, i) {
		const box = Page.element("input", { type: "checkbox" });

		box.checked = true;
		box.addEventListener("change", () => {
			this.hidden[box.checked ? "delete" : "add"](i);
			this.chart.updateOptions({});
		});
		return Page.element("label", {}, box, Page.element("i", { class: "swatch group-" + group.name }),
			Page.say("group_" + group.name));
	}

	/* Names the parts that the page leaves out. */
	leftOut() {
		const sum = (what) => this.lanes.reduce((n, item) => n + what(item.lane), 0);
		const part = (kept, seen) => kept === seen ? Page.say("kept_all", Page.count(seen))
			: Page.say("kept_longest", Page.count(kept), Page.count(seen));
		const w = this.timeline.window;
		const outside = part(sum((l) => l.outside.length), sum((l) => l.outside_seen));
		const text = [w ? Page.say("left_out_window", w.first_step, w.last_step,
			part(sum((l) => l.inside.length), sum((l) => l.inside_seen)), outside)
			: Page.say("left_out", outside)];

		if (this.timeline.threads_left_out)
			text.push(Page.say("left_out_threads", Page.count(this.timeline.threads_left_out)));
		text.push(Page.say("left_out_other"));
		return Page.element("p", { class: "left-out" }, text.join(" "));
	}

	/* The overview shows the time of steps, or nothing where there are none. */
	draw(steps) {
		const end = this.timeline.wall_ns / 1e9;
		const rows = steps.length ? steps.map((s) => [s.start_ns / 1e9, s.wall_ns]).sort((a, b) => a[0] - b[0])
			: [[0, 0]];

		this.end = end;
		if (rows[0][0] > 0)
			rows.unshift([0, null]);
		if (rows[rows.length - 1][0] < end)
			rows.push([end, null]);
		this.height = this.place(0, Infinity);
		this.canvas.style.height = this.height + "px";
		this.chart = new Dygraph(this.canvas, rows, Object.assign(this.colors(), {
			labels: ["at", "step"],
			legend: "never",
			valueRange: [0, 1],
			plotter: () => {},
			showRangeSelector: true,
			rangeSelectorHeight: 36,
			rangeSelectorPlotFillColor: "",
			gridLineWidth: 0.5,
			axisLabelFontSize: 12,
			highlightCircleSize: 0,
			axes: {
				y: { drawAxis: false, drawGrid: false },
				x: { axisLabelFormatter: (x) => Page.instant(x, this.width() / 5) },
			},
			underlayCallback: (context, area, chart) => this.paint(context, area, chart),
			drawCallback: (chart) => this.fit(chart),
			panEdgeFraction: 1e-9, /* 0 would be no bound */
			interactionModel: Object.assign({}, Dygraph.defaultInteractionModel, {
				mousedown: Page.Lanes.drag,
				dblclick: () => this.show(null),
			}),
		}));
		for (const handle of this.canvas.querySelectorAll("img"))
			handle.alt = ""; /* the chart's keys do what the handles of the mouse do */
		Page.painters.push(() => this.chart.updateOptions(this.colors()));
	}

	colors() {
		return {
			rangeSelectorPlotStrokeColor: Page.color("line"),
			rangeSelectorForegroundStrokeColor: Page.color("muted"),
			rangeSelectorBackgroundStrokeColor: Page.color("grid"),
			rangeSelectorVeilColour: Page.color("veil"),
			gridLineColor: Page.color("grid"),
			axisLineColor: Page.color("grid"),
		};
	}

	/* Dragging moves, and with Shift it chooses what to show. The pointer may leave the picture meanwhile. */
	static drag(down, chart, context) {
		const act = down.shiftKey ? "Zoom" : "Pan";
		const move = (event) => Dygraph["move" + act](event, chart, context);

		context.initializeMouseDown(down, chart, context);
		Dygraph["start" + act](down, chart, context);
		document.addEventListener("mousemove", move);
		document.addEventListener("mouseup", (up) => {
			document.removeEventListener("mousemove", move);
			Dygraph["end" + act](up, chart, context);
			context.destroy();
		}, { once: true });
	}

	range() {
		return this.chart ? this.chart.xAxisRange() : [0, this.end];
	}

	width() {
		const [from, to] = this.range();

		return to - from;
	}

	/* window: seconds, or null for all. */
	show(window) {
		this.chart.updateOptions({ dateWindow: window || [0, this.end] });
	}

	zoom(factor, around) {
		const [from, to] = this.range();
		const at = around === undefined ? (from + to) / 2 : around;
		const width = Math.max(2e-7, (to - from) * factor);
		const left = Math.max(0, at - (at - from) * width / (to - from));

		this.show([left, Math.min(this.end, left + width)]);
	}

	move(part) {
		const [from, to] = this.range(), width = to - from;
		const left = Math.min(this.end - width, Math.max(0, from + part * width));

		this.show([left, left + width]);
	}

	paint(context, area, chart) {
		const [from, to] = chart.xAxisRange();

		this.view = { from: from * 1e9, to: to * 1e9, scale: area.w / ((to - from) * 1e9), area: area };
		this.pens = Page.groups.map((group) => ({
			fill: Page.color("group-" + group.name),
			hatch: group.path ? Page.hatch(context, "hatch", group.path) : null,
		}));
		this.ink = Page.color("ink");
		context.save();
		context.beginPath();
		context.rect(area.x, area.y, area.w, area.h);
		context.clip();
		this.paintWindow(context);
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		this.paintStrip(context, area.y + 4);
		for (const item of this.lanes)
			if (!item.isFolded)
				item.rows.forEach((row, i) => this.paintRow(context, row, area.y + item.y + i * Page.Lanes.ROW));
		context.fillStyle = Page.color("alarm");
		for (const f of this.found)
			this.paintFound(context, f);
		this.paintChosen(context);
		context.restore();
	}

	x(ns) {
		return this.view.area.x + (ns - this.view.from) * this.view.scale;
	}

	paintWindow(context) {
		const w = this.timeline.window, area = this.view.area;

		/* where it is all that there is to see, it needs no mark */
		if (!w || (this.view.from >= w.start_ns && this.view.to <= w.end_ns))
			return;
		context.fillStyle = Page.color("window");
		context.fillRect(this.x(w.start_ns), area.y, (w.end_ns - w.start_ns) * this.view.scale, area.h);
	}

	paintStrip(context, y) {
		for (let i = Page.firstAt(this.strip, this.view.from); i < this.strip.length && this.strip[i].from < this.view.to; i++) {
			const phase = this.strip[i];
			const left = Math.max(this.view.area.x - 2, this.x(phase.from));
			const right = Math.min(this.view.area.x + this.view.area.w + 2, this.x(phase.to));

			if (right - left < 0.3)
				continue;
			context.fillStyle = Page.color("part-" + phase.part);
			context.fillRect(left, y, Math.max(1, right - left), Page.Lanes.STRIP);
			if (right - left > 34)
				this.paintText(context, { name: phase.title }, left, right - left, y, Page.Lanes.STRIP);
		}
	}

	/* Draws one event for each pixel where events are narrower than a pixel. */
	paintRow(context, row, y) {
		let painted = -Infinity;

		for (let i = Page.firstAt(row, this.view.from); i < row.length && row[i].from < this.view.to; i++) {
			const event = row[i];
			const left = Math.max(this.view.area.x - 2, this.x(event.from));
			const right = Math.min(this.view.area.x + this.view.area.w + 2, this.x(event.to));

			if (this.hidden.has(event.group) || right < painted)
				continue;
			this.paintEvent(context, event, left, Math.max(1, right - left), y);
			painted = Math.max(right, left + 1);
		}
	}

	paintEvent(context, event, left, width, y) {
		const pen = this.pens[event.group], height = Page.Lanes.ROW - 2;

		context.fillStyle = pen.fill;
		context.fillRect(left, y, width > 3 ? width - 0.5 : width, height);
		if (width < 5)
			return;
		if (pen.hatch) {
			context.fillStyle = pen.hatch;
			context.fillRect(left, y, width - 0.5, height);
		}
		if (width > 34)
			this.paintText(context, event, left, width, y, height);
	}

	paintText(context, event, left, width, y, height) {
		const text = event.name || event.kind, room = Math.floor((width - 6) / 6.2);

		context.fillStyle = this.ink;
		context.fillText(text.length > room ? text.slice(0, Math.max(1, room - 1)) + "\u2026" : text,
			left + 3, y + height / 2 + 0.5, width - 4);
	}

	paintFound(context, { event, item, row }) {
		if (event.to >= this.view.from && event.from <= this.view.to && !item.isFolded)
			context.fillRect(this.x(event.from), this.view.area.y + item.y + (row + 1) * Page.Lanes.ROW - 4,
				Math.max(2, event.dur * this.view.scale), 3);
	}

	paintChosen(context) {
		if (!this.chosen)
			return;
		const { event, item, row } = this.chosen;
		const left = this.x(event.from);

		context.strokeStyle = this.ink;
		context.lineWidth = 2;
		context.strokeRect(left - 1, this.view.area.y + item.y + row * Page.Lanes.ROW - 1,
			Math.max(3, event.dur * this.view.scale + 1), Page.Lanes.ROW);
	}

	choose(chosen) {
		this.chosen = chosen;
		this.chart.updateOptions({});
		this.readout.textContent = chosen ? this.describe(chosen) : "";
	}

	describe({ event, item }) {
		const hasBytes = event.value !== null && /read|write|copy|mmap/.test(event.stage);

		return (event.name ? event.name + " \u2014 " : "") +
			Page.say(hasBytes ? "event_bytes" : "event", event.kind, event.stage, Page.ns(event.dur),
				(event.from / 1e9).toFixed(9), Page.laneName(item.lane), item.lane.pid, item.lane.tid,
				hasBytes ? Page.count(event.value) : "");
	}

	/* Two pixels around an event are it, too. */
	eventAt(x, y) {
		const at = this.view.from + (x - this.view.area.x) / this.view.scale, near = 2 / this.view.scale;

		for (const item of this.lanes.filter((lane) => !lane.isFolded)) {
			const row = Math.floor((y - this.view.area.y - item.y) / Page.Lanes.ROW);
			const events = item.rows[row];

			if (!events)
				continue;
			for (let i = Page.firstAt(events, at - near); i < events.length && events[i].from <= at + near; i++)
				if (!this.hidden.has(events[i].group))
					return { event: events[i], item: item, row: row, place: i };
		}
		return null;
	}

	hover(event) {
		const box = this.canvas.getBoundingClientRect();
		const found = event.buttons ? null : this.eventAt(event.clientX - box.left, event.clientY - box.top);

		if (found && !(this.chosen && this.chosen.event === found.event))
			this.choose(found);
	}

	/* The page scrolls as ever until the timeline has the focus. */
	wheel(event) {
		if (document.activeElement !== this.canvas && !event.ctrlKey)
			return;
		const box = this.canvas.getBoundingClientRect();
		const at = (this.view.from + (event.clientX - box.left - this.view.area.x) / this.view.scale) / 1e9;

		event.preventDefault();
		this.zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
	}

	key(event) {
		const actions = {
			ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2),
			ArrowUp: () => this.otherLane(-1), ArrowDown: () => this.otherLane(1),
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			Home: () => this.show(null),
			",": () => this.otherEvent(-1), ".": () => this.otherEvent(1),
			a: () => this.move(-0.2), d: () => this.move(0.2), w: () => this.zoom(0.5), s: () => this.zoom(2),
			f: () => this.zoomToChosen(), "?": () => this.toggleHelp(),
		};

		if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key])
			return;
		actions[event.key]();
		event.preventDefault();
	}

	otherLane(step) {
		const now = this.chosen ? this.lanes.indexOf(this.chosen.item) : step > 0 ? -1 : this.lanes.length;

		for (let i = now + step; i >= 0 && i < this.lanes.length; i += step) {
			const row = this.lanes[i].rows[0];

			if (row) {
				const place = Math.min(row.length - 1, Page.firstAt(row, this.view.from));

				this.reveal(row[place]);
				this.choose({ event: row[place], item: this.lanes[i], row: 0, place: place });
				return;
			}
		}
	}

	otherEvent(step) {
		if (!this.chosen) {
			this.otherLane(1);
			return;
		}
		const row = this.chosen.item.rows[this.chosen.row];
		const place = Math.min(row.length - 1, Math.max(0, this.chosen.place + step));

		this.chosen = Object.assign({}, this.chosen, { event: row[place], place: place });
		this.reveal(row[place]);
		this.choose(this.chosen);
	}

	reveal(event) {
		const width = this.width(), middle = (event.from + event.to) / 2e9;
		const [from, to] = this.range();

		if (middle >= from && middle <= to)
			return;
		const left = Math.min(Math.max(0, this.end - width), Math.max(0, middle - width / 2));

		this.show([left, left + width]);
	}
};
