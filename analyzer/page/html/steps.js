/* SPDX-License-Identifier: Apache-2.0 */
/* Time of each step over the run: one line for the whole step or one part of it. */

Page.Steps = class {
	constructor(holder, steps, training) {
		this.holder = holder;
		this.training = training;
		this.trainers = training.trainers.filter((trainer) => trainer.steps);
		this.trainers.sort((a, b) => b.steps - a.steps);
		this.all = steps;
		this.part = "wall";
		this.build();
		this.choose(this.trainers[0]);
	}

	build() {
		this.readout = Page.element("p", { class: "readout", role: "status" });
		this.canvas = Page.element("div", { class: "chart", tabindex: "0", role: "application" });
		this.canvas.setAttribute("aria-label", Page.say("steps_keys"));
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		this.tools = Page.element("div", { class: "tools" }, this.partChoice(), this.logChoice(),
			Page.button(Page.say("steps_all"), Page.say("steps_all_hint"), () => this.chart.resetZoom()));
		if (this.trainers.length > 1)
			this.tools.prepend(this.trainerChoice());
		this.holder.append(this.tools, this.canvas, this.legend(), this.readout);
	}

	legend() {
		return Page.element("p", { class: "legend" },
			Page.element("span", { class: "mark-slow" }, "\u25C6"), " " + Page.say("legend_slow") + "  ",
			Page.element("span", { class: "mark-pause" }, "\u25A8"), " " + Page.say("legend_pause") + "  ",
			Page.element("span", { class: "mark-epoch" }, "\u2506"), " " + Page.say("legend_epoch") + " ",
			Page.say("legend_keys"));
	}

	choice(label, options, action) {
		const select = Page.element("select", {});

		for (const [value, text] of options)
			select.append(Page.element("option", { value: value }, text));
		select.addEventListener("change", () => action(select.value));
		return Page.element("label", {}, label + " ", select);
	}

	partChoice() {
		const there = this.training.parts.filter((p) => this.all.some((s) => s.parts[p.part] !== null));

		return this.choice(Page.say("show"), [["wall", Page.say("whole_step")], ...there.map((p) => [p.part, p.title])],
			(part) => {
				this.part = part;
				this.draw();
			});
	}

	trainerChoice() {
		return this.choice(Page.say("thread_choice"), this.trainers.map((t, i) => [i, t.pid + " / " + t.tid]),
			(i) => this.choose(this.trainers[i]));
	}

	logChoice() {
		const box = Page.element("input", { type: "checkbox" });

		box.addEventListener("change", () => this.chart.updateOptions({ logscale: box.checked }));
		return Page.element("label", {}, box, " " + Page.say("logarithmic"));
	}

	choose(trainer) {
		this.trainer = trainer;
		this.steps = this.all.filter((s) => s.pid === trainer.pid && s.tid === trainer.tid);
		this.draw();
		this.onChoose?.();
	}

	value(step) {
		return this.part === "wall" ? step.wall_ns : step.parts[this.part];
	}

	/* A row with no value keeps the line from running through what lies between epochs. */
	rows() {
		const rows = [];

		this.rowOf = [];
		this.steps.forEach((step, i) => {
			if (i && step.epoch !== this.steps[i - 1].epoch)
				rows.push([step.start_ns / 1e9 - 1e-9, null]);
			this.rowOf.push(rows.length);
			rows.push([step.start_ns / 1e9, this.value(step)]);
		});
		return rows;
	}

	paint() {
		return Object.assign({ colors: [Page.color("line")] }, Page.gridColors());
	}

	draw() {
		const is_new = !this.chart;

		this.chart = Page.lineChart(this.chart, this.canvas, {
			file: this.rows(),
			labels: ["at", "step"],
			colors: [Page.color("line")],
		}, {
			drawPoints: this.steps.length < 300,
			pointSize: 2,
			highlightCircleSize: 5,
			drawGapEdgePoints: true,
			underlayCallback: (context, area, chart) => this.under(context, area, chart),
			drawCallback: (chart) => this.marks(chart),
			highlightCallback: (event, x) => this.tell(this.steps.findIndex((s) => s.start_ns / 1e9 === x)),
		}, Page.ns);
		if (is_new)
			Page.painters.push(() => this.chart.updateOptions(this.paint()));
	}

	under(context, area, chart) {
		for (const pause of this.trainer.pauses) {
			if (!pause.is_validation)
				continue;
			const from = chart.toDomXCoord(pause.start_ns / 1e9);

			context.fillStyle = Page.hatch(context, "band", "M0 8L8 0");
			context.fillRect(from, area.y, chart.toDomXCoord(pause.end_ns / 1e9) - from, area.h);
		}
		context.fillStyle = context.strokeStyle = Page.color("muted");
		context.font = "12px system-ui, sans-serif";
		context.setLineDash([3, 3]);
		this.steps.forEach((step, i) => {
			if (i && step.epoch === this.steps[i - 1].epoch)
				return;
			const x = Math.round(chart.toDomXCoord(step.start_ns / 1e9)) + 0.5;

			context.beginPath();
			context.moveTo(x, area.y);
			context.lineTo(x, area.y + area.h);
			context.stroke();
			context.fillText(Page.say("epoch", step.epoch), x + 4, area.y + 11);
		});
		context.setLineDash([]);
	}

	/* Over the line: steps of over twice the median. */
	marks(chart) {
		const context = chart.hidden_ctx_;

		if (this.part !== "wall")
			return;
		for (const step of this.steps) {
			if (step.wall_ns <= this.training.slow_ns)
				continue;
			const x = chart.toDomXCoord(step.start_ns / 1e9), y = chart.toDomYCoord(step.wall_ns);

			context.fillStyle = Page.color("alarm");
			context.beginPath();
			context.moveTo(x, y - 6);
			context.lineTo(x + 5, y);
			context.lineTo(x, y + 6);
			context.lineTo(x - 5, y);
			context.fill();
		}
	}

	tell(i) {
		const step = this.steps[i];

		if (!step)
			return;
		this.at = i;
		const parts = this.training.parts.filter((p) => step.parts[p.part])
			.sort((a, b) => step.parts[b.part] - step.parts[a.part])
			.map((p) => p.title + " " + Page.ns(step.parts[p.part]));

		this.readout.textContent = Page.say(step.wall_ns > this.training.slow_ns ? "slow_step" : "step",
			step.index, step.epoch, Page.say(step.kind.replace(/\W/g, "_")), Page.ns(step.wall_ns),
			parts.join(Page.say("comma")));
	}

	key(event) {
		const [from, to] = this.chart.xAxisRange();
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		const zoom = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];

		if (step) {
			this.tell(Math.min(this.steps.length - 1, Math.max(0, (this.at ?? -1) + step)));
			this.chart.setSelection(this.rowOf[this.at]);
		} else if (zoom) {
			this.zoom(zoom, this.at === undefined ? (from + to) / 2 : this.steps[this.at].start_ns / 1e9);
		} else if (event.key === "Home") {
			this.chart.resetZoom();
		} else {
			return;
		}
		event.preventDefault();
	}

	zoom(factor, around) {
		const [from, to] = this.chart.xAxisRange();
		const [first, last] = this.chart.xAxisExtremes();

		this.chart.updateOptions({ dateWindow: [
			Math.max(first, around - (around - from) * factor),
			Math.min(last, around + (to - around) * factor),
		] });
	}
};

/* Strokes over nothing, so that areas differ without colour. */
Page.hatch = function (context, color, path) {
	const tile = document.createElement("canvas");

	tile.width = tile.height = 8;
	const pen = tile.getContext("2d");

	pen.strokeStyle = Page.color(color);
	pen.lineWidth = 1;
	pen.stroke(new Path2D(path));
	return context.createPattern(tile, "repeat");
};
