/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks and steps as a heat map: a row a rank, or several; bands show hosts and local ranks. */

Page.Heat = class {
	constructor(holder, data) {
		this.data = data;
		this.order = 0;
		this.measure = 0;
		this.at = null;
		this.canvas = Page.element("canvas", { class: "heat", tabindex: "0", role: "application", "aria-label": Page.say("heat_keys") });
		this.readout = Page.element("p", { class: "readout", role: "status" });
		this.note = Page.element("p", { class: "legend" });
		this.canvas.addEventListener("click", (event) => this.click(event));
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		holder.append(this.tools(), this.canvas, this.note, this.readout);
		this.cell = Math.max(3, Math.min(14, Math.floor(560 / this.rows().length)));
		new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
		Page.painters.push(() => this.draw());
		this.draw();
	}

	choice(label, texts, action) {
		const select = Page.element("select", {});

		texts.forEach((text, i) => select.append(Page.element("option", { value: i }, text)));
		select.addEventListener("change", () => {
			action(Number(select.value));
			this.draw();
			this.tell();
		});
		return Page.element("label", {}, label + " ", select);
	}

	tools() {
		return Page.element("div", { class: "tools" },
			this.choice(Page.say("show"), this.data.measures.map((m) => m.title), (i) => this.measure = i),
			this.choice(Page.say("heat_order"), [Page.say("heat_rank"), Page.say("heat_host"), Page.say("heat_lateness")],
				(i) => {
					this.order = i;
					this.at = null;
				}));
	}

	rows() {
		return this.data.rows[this.order];
	}

	/* ns, with the digits that a level has. */
	value(measure, row, column) {
		const level = this.data.levels.indexOf(measure.cells[this.order][row][column]);

		return measure.low_ns + (measure.high_ns - measure.low_ns) * level / (this.data.levels.length - 1);
	}

	/* Hosts alternate; a local rank has its shade. */
	band(row, i) {
		const first = row.first;

		if (i === 0) {
			if (this.lastHost !== first.host)
				this.hostShade = !this.hostShade;
			this.lastHost = first.host;
			return this.hostShade ? Page.color("band") : Page.color("grid");
		}
		return first.local_rank === null ? Page.color("paper") : Page.color("part-" + first.local_rank % 11);
	}

	draw() {
		const columns = this.data.columns.length, measure = this.data.measures[this.measure];
		const width = Math.max(columns, this.canvas.clientWidth || 800), height = this.cell * this.rows().length;
		const context = this.canvas.getContext("2d"), low = Page.color("card"), high = Page.color("alarm");

		this.canvas.width = width;
		this.canvas.height = height;
		this.canvas.style.height = height + "px";
		this.left = Page.Heat.BANDS * Page.Heat.BAND;
		this.wide = (width - this.left) / columns;
		this.lastHost = null;
		this.hostShade = false;
		this.rows().forEach((row, r) => {
			for (let i = 0; i < Page.Heat.BANDS; i++) {
				context.fillStyle = this.band(row, i);
				context.fillRect(i * Page.Heat.BAND, r * this.cell, Page.Heat.BAND - 2, this.cell);
			}
			for (let c = 0; c < columns; c++) {
				const x = this.left + c * this.wide;

				context.fillStyle = low;
				context.globalAlpha = 1;
				context.fillRect(x, r * this.cell, this.wide + 0.5, this.cell);
				context.fillStyle = high;
				context.globalAlpha = this.data.levels.indexOf(measure.cells[this.order][r][c]) / (this.data.levels.length - 1);
				context.fillRect(x, r * this.cell, this.wide + 0.5, this.cell);
			}
			context.globalAlpha = 1;
		});
		this.frame(context);
		this.note.textContent = Page.say("heat_note", measure.title, Page.ns(measure.low_ns), Page.ns(measure.high_ns),
			Page.count(this.data.ranks), Page.count(this.rows().length));
	}

	frame(context) {
		if (!this.at)
			return;
		context.strokeStyle = Page.color("ink");
		context.lineWidth = 2;
		context.strokeRect(this.left + this.at.column * this.wide, this.at.row * this.cell, this.wide, this.cell);
	}

	choose(row, column) {
		this.at = {
			row: Math.max(0, Math.min(this.rows().length - 1, row)),
			column: Math.max(0, Math.min(this.data.columns.length - 1, column)),
		};
		this.draw();
		this.tell();
	}

	click(event) {
		const box = this.canvas.getBoundingClientRect();

		this.choose(Math.floor((event.clientY - box.top) / this.cell),
			Math.floor((event.clientX - box.left - this.left) / this.wide));
	}

	key(event) {
		const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
		const move = moves[event.key], at = this.at || { row: 0, column: 0 };

		if (!move)
			return;
		event.preventDefault();
		this.choose(at.row + move[0], at.column + move[1]);
	}

	name(rank) {
		return Page.say("heat_name", rank.rank === null ? "-" : rank.rank, rank.host,
			rank.local_rank === null ? "-" : rank.local_rank, rank.pid);
	}

	/* The step of the rank: all that is drawn of it. */
	tell() {
		if (!this.at) {
			this.readout.textContent = "";
			return;
		}
		const row = this.rows()[this.at.row], column = this.data.columns[this.at.column];
		const steps = column.first_step === column.last_step ? String(column.first_step)
			: column.first_step + "\u2013" + column.last_step;
		const values = this.data.measures.map((m) => m.title + " " + Page.ns(this.value(m, this.at.row, this.at.column)));
		const key = row.ranks > 1 ? "heat_cell_of_ranks" : "heat_cell";

		this.readout.textContent = Page.say(key, this.name(row.first), steps, values.join(Page.say("comma")), Page.count(row.ranks),
			this.name(row.latest));
	}
};

Page.Heat.BANDS = 2;
Page.Heat.BAND = 10;
