/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that sort by the numbers of the page's data, and that filter. */

Page.sortable = function (table, rows) {
	const body = table.tBodies[0];
	const lines = Array.from(body.rows).map((line, i) => ({
		line: line,
		row: rows && rows.length === body.rows.length ? rows[i] : null,
		text: line.textContent.toLowerCase(),
		place: i,
	}));

	Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
		const button = Page.button(head.textContent, Page.say("sort_hint"), () =>
			Page.sort(table, lines, head, column));

		head.replaceChildren(button);
		head.setAttribute("aria-sort", "none");
	});
	return lines;
};

/* The number, or else the text, that a cell shows; null where it shows that there is none. */
Page.value = function (item, key, column) {
	let value = key && item.row ? item.row[key] : undefined;

	if (value === undefined && key && item.row && item.row.parts)
		value = item.row.parts[key.replace(/_ns$/, "")];
	if (value === undefined)
		value = item.line.cells[column].textContent.trim().toLowerCase();
	return value;
};

Page.compare = function (a, b) {
	if (a === null || b === null)
		return (a === null) - (b === null);
	return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
};

/* Greatest first, smallest first, the original order; text smallest first. Empty cells stay last. */
Page.sort = function (table, lines, head, column) {
	const first = head.classList.contains("text") ? "ascending" : "descending";
	const second = first === "ascending" ? "descending" : "ascending";
	const now = head.getAttribute("aria-sort");
	const next = now === "none" ? first : now === first ? second : "none";
	const key = head.dataset.key, sign = next === "descending" ? -1 : 1;
	const sorted = lines.slice();

	for (const cell of table.tHead.rows[0].cells)
		cell.setAttribute("aria-sort", cell === head ? next : "none");
	if (next !== "none")
		sorted.sort((x, y) => {
			const a = Page.value(x, key, column), b = Page.value(y, key, column);
			const missing = (a === null) - (b === null);

			return missing || sign * Page.compare(a, b) || x.place - y.place;
		});
	table.tBodies[0].append(...sorted.map((item) => item.line));
};

Page.filter = function (table, lines) {
	const count = Page.element("span", { class: "count", role: "status" });
	const input = Page.element("input", { type: "search", placeholder: Page.say("filter") });
	const label = Page.element("label", { class: "filter" }, input, count);

	input.setAttribute("aria-label", Page.say("filter"));
	input.addEventListener("input", () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;

		for (const item of lines) {
			item.line.hidden = !words.every((word) => item.text.includes(word));
			shown += !item.line.hidden;
		}
		count.textContent = words.length ? Page.say("filtered", shown, lines.length) : "";
	});
	table.parentElement.before(label);
};

Page.tables = function () {
	for (const table of document.querySelectorAll("table[data-table]")) {
		const data = Page.data(table.closest("section").id);
		const name = table.dataset.table;

		if (name === "account" || !table.tBodies[0].rows.length)
			continue;
		const lines = Page.sortable(table, data && data[name]);

		if (lines.length >= 8)
			Page.filter(table, lines);
	}
};
