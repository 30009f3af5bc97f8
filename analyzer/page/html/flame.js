/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled functions as a flame graph: a row a depth, callers above, widths by time. */

Page.Flame = function (holder, data) {
	this.data = this.unfold(data);
	this.phase = this.firstPhase();
	this.words = "";
	this.view = Page.element("div", { class: "flame", role: "group", "aria-label": Page.say("flame_keys") });
	this.note = Page.element("p", { class: "count", role: "status" });
	holder.append(this.tools(), this.view, this.note);
	this.rebuild();
};

/* The least share of the width that is drawn, and the rows. */
Page.Flame.LEAST = 0.0008;
Page.Flame.DEPTH = 120;

Page.Flame.prototype.tools = function () {
	const choice = Page.element("select", { "aria-label": Page.say("flame_phase") });
	const search = Page.element("input", { type: "search", placeholder: Page.say("flame_search") });
	const all = Page.button(Page.say("flame_all"), Page.say("flame_all_hint"), () => this.zoom(this.root));

	choice.append(Page.element("option", { value: "" }, Page.say("flame_phases")));
	this.data.phases.forEach((name) => choice.append(Page.element("option", { value: name }, name)));
	choice.value = this.phase;
	choice.addEventListener("change", () => {
		this.phase = choice.value;
		this.rebuild();
	});
	search.setAttribute("aria-label", Page.say("flame_search"));
	search.addEventListener("input", () => {
		this.words = search.value.toLowerCase();
		this.draw();
	});
	return Page.element("div", { class: "tools" }, choice, search, all);
};

/* flame_json.h describes how the data is folded. */
Page.Flame.prototype.unfold = function (data) {
	const files = [];
	let before = [];

	const frames = data.frames.map(([name, line, file]) => {
		if (typeof file === "string")
			files.push(file);
		return { name: name, line: line, file: typeof file === "string" ? file : files[file] };
	});
	const stacks = data.stacks.map(([phase, ns, same, ...rest]) => {
		before = before.slice(0, same).concat(rest);
		return { phase: phase, ns: ns, frames: before };
	});

	return { phases: data.phases, frames: frames, stacks: stacks };
};

/* That of the first line that advice names: making batches has several. Else the greatest of the account; else all. */
Page.Flame.prototype.firstPhase = function () {
	const line = Page.data("verdict").advice.map((a) => a.line).find(Boolean);
	const isOfLine = (name) => name === line.part ||
		(!this.data.phases.includes(line.part) && /^worker_[^i]|^loader_wait/.test(name));
	const sums = new Map(line ? this.data.phases.filter(isOfLine).map((name) => [name, 0])
		: (Page.data("account").account || []).map((row) => [row.part, row.ns || 0]));
	const greatest = () => Array.from(sums).reduce((a, b) => b[1] > a[1] ? b : a, ["", 0])[0];

	for (const stack of line ? this.data.stacks : [])
		if (sums.has(this.data.phases[stack.phase]))
			sums.set(this.data.phases[stack.phase], sums.get(this.data.phases[stack.phase]) + stack.ns);
	return this.data.stacks.some((stack) => this.data.phases[stack.phase] === greatest()) ? greatest() : "";
};

/* Stacks begin at the outermost frame. */
Page.Flame.prototype.rebuild = function () {
	this.root = { frame: -1, ns: 0, own: 0, from: 0, parent: null, inner: new Map() };
	for (const stack of this.data.stacks) {
		let node = this.root;

		if (this.phase && this.data.phases[stack.phase] !== this.phase)
			continue;
		node.ns += stack.ns;
		for (const frame of stack.frames) {
			if (!node.inner.has(frame))
				node.inner.set(frame, { frame: frame, ns: 0, own: 0, parent: node, inner: new Map() });
			node = node.inner.get(frame);
			node.ns += stack.ns;
		}
		node.own += stack.ns;
	}
	this.zoom(this.root);
};

Page.Flame.prototype.zoom = function (node) {
	this.top = node;
	this.draw();
};

/* A file's package or folder: the colour is the module's. */
Page.Flame.module = function (file) {
	const parts = (file || "").split("/");
	const at = parts.findIndex((part) => part === "site-packages" || part === "dist-packages");

	if (at >= 0)
		return parts[at + 1];
	return parts.some((part) => /^python3/.test(part)) || file.startsWith("<") ? "python" : parts[parts.length - 1];
};

Page.Flame.color = function (file) {
	let hash = 7;

	if (!file)
		return "var(--part-11)";
	for (const c of Page.Flame.module(file))
		hash = (hash * 31 + c.charCodeAt(0)) % 9973;
	return "var(--part-" + hash % 11 + ")";
};

Page.Flame.prototype.name = function (node) {
	const frame = this.data.frames[node.frame];

	if (!frame)
		return this.phase || Page.say("flame_phases");
	return frame.name === "<module>" ? frame.name + " " + frame.file.split("/").pop() : frame.name;
};

Page.Flame.prototype.title = function (node) {
	const frame = this.data.frames[node.frame] || {};
	const place = frame.file ? frame.file + ":" + frame.line : "";
	const share = (100 * node.ns / (this.root.ns || 1)).toFixed(1);

	return Page.say("flame_title", this.name(node), place, Page.ns(node.ns), share, Page.ns(node.own));
};

Page.Flame.prototype.matches = function (node) {
	const frame = this.data.frames[node.frame];

	return this.words && frame && (frame.name + " " + (frame.file || "")).toLowerCase().includes(this.words);
};

Page.Flame.prototype.put = function (node, depth, from, width) {
	const button = Page.button(this.name(node), this.title(node), () => this.zoom(node));
	const frame = this.data.frames[node.frame];

	button.className = this.matches(node) ? "found" : "";
	button.style.left = 100 * from + "%";
	button.style.width = 100 * width + "%";
	button.style.top = 1.3 * depth + "em";
	button.style.background = Page.Flame.color(frame && frame.file);
	this.view.append(button);
	this.rows = Math.max(this.rows, depth + 1);
};

Page.Flame.prototype.putTree = function (node, depth, from, width) {
	let at = from;

	if (width < Page.Flame.LEAST || depth > Page.Flame.DEPTH)
		return;
	this.put(node, depth, from, width);
	for (const inner of Array.from(node.inner.values()).sort((a, b) => b.ns - a.ns)) {
		this.putTree(inner, depth + 1, at, width * inner.ns / node.ns);
		at += width * inner.ns / node.ns;
	}
};

/* Time of functions that match, those inside of each other once. */
Page.Flame.prototype.found = function (node) {
	let ns = 0;

	if (this.matches(node))
		return node.ns;
	for (const inner of node.inner.values())
		ns += this.found(inner);
	return ns;
};

Page.Flame.prototype.draw = function () {
	const outer = [];

	this.view.replaceChildren();
	this.rows = 0;
	for (let node = this.top.parent; node; node = node.parent)
		outer.unshift(node);
	outer.forEach((node, depth) => this.put(node, depth, 0, 1));
	if (this.root.ns)
		this.putTree(this.top, outer.length, 0, 1);
	this.view.style.height = 1.3 * this.rows + "em";
	this.note.textContent = this.words ? Page.say("flame_found", Page.ns(this.found(this.root)),
		(100 * this.found(this.root) / (this.root.ns || 1)).toFixed(1)) : "";
};
