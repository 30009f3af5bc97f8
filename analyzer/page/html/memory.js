/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the chosen trainer and of its workers over the run: two lines of one chart. */

Page.Memory = class {
	constructor(holder, steps) {
		this.steps = steps;
		this.keys = Page.Memory.keys(steps.all);
		this.canvas = Page.element("div", { class: "chart memory", role: "img" });
		this.canvas.setAttribute("aria-label", Page.say("memory"));
		this.readout = Page.element("p", { class: "readout", role: "status" });
		holder.append(Page.element("h3", {}, Page.say("memory")), this.canvas, this.legend(), this.readout);
		this.draw();
		Page.painters.push(() => this.chart.updateOptions(this.paint()));
		steps.onChoose = () => this.draw();
	}

	static keys(steps) {
		return ["rss_bytes", "workers_rss_bytes"].filter((key) => steps.some((s) => s[key]));
	}

	legend() {
		const legend = Page.element("p", { class: "legend" });

		for (const key of this.keys)
			legend.append(Page.element("span", { class: "mark-" + key }, key === "rss_bytes" ? "\u2501\u2501" : "\u2505\u2505"),
				" " + Page.say(key) + "  ");
		return legend;
	}

	paint() {
		const colors = this.keys.map((key) => Page.color(key === "rss_bytes" ? "line" : "alarm"));

		return Object.assign({ colors }, Page.gridColors());
	}

	draw() {
		this.chart = Page.lineChart(this.chart, this.canvas, Object.assign(this.paint(), {
			file: this.steps.steps.map((s) => [s.start_ns / 1e9, ...this.keys.map((key) => s[key] ?? null)]),
			labels: ["at", ...this.keys],
		}), {
			series: { workers_rss_bytes: { strokePattern: [6, 4] } },
			drawPoints: this.steps.steps.length < 3,
			connectSeparatedPoints: true,
			highlightCallback: (event, x) => this.tell(this.steps.steps.find((s) => s.start_ns / 1e9 === x)),
		}, Page.bytes);
	}

	tell(step) {
		if (step)
			this.readout.textContent = Page.say("memory_at", Page.instant(step.start_ns / 1e9, 0.001),
				this.keys.filter((key) => step[key]).map((key) => Page.say(key) + " " + Page.bytes(step[key])).join(Page.say("comma")));
	}
};
