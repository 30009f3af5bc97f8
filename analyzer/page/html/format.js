/* SPDX-License-Identifier: Apache-2.0 */
"use strict";

/* Helpers of the other files: the data in the page, numbers as in the tables, elements. */
const Page = {};

Page.data = function (name) {
	const element = document.getElementById("data-" + name);

	return element ? JSON.parse(element.textContent) : null;
};

/* A text of the page's table of words, with the values that its {0}, {1}, … stand for. */
Page.say = function (key, ...values) {
	Page.words = Page.words || Page.data("words");
	return Page.words[key].replace(/\{(\d)\}/g, (place, i) => values[i]);
};

Page.element = function (tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {}))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
};

Page.button = function (text, title, action) {
	const button = Page.element("button", { type: "button", title: title }, text);

	button.addEventListener("click", action);
	return button;
};

/* A style's custom property, as the theme of the moment has it. */
Page.color = function (name) {
	if (!Page.probe) {
		Page.probe = Page.element("i", { hidden: "" });
		document.body.append(Page.probe);
	}
	Page.probe.style.color = "var(--" + name + ")";
	return getComputedStyle(Page.probe).color;
};

Page.count = function (n) {
	return n.toLocaleString("en-US");
};

/* As sp_text_ns() does. */
Page.ns = function (ns) {
	const units = [[1e3, 1, "ns"], [999.5e3, 1e3, "µs"], [999.5e6, 1e6, "ms"], [999.5e9, 1e9, "s"]];
	const unit_of = units.find((u) => Math.abs(ns) < u[0]);
	if (!unit_of) {
		const s = Math.floor((Math.abs(ns) + 5e8) / 1e9), two = (n) => String(n % 60).padStart(2, "0");
		return (ns < 0 ? "-" : "") + Math.floor(s / 3600) + ":" + two(Math.floor(s / 60)) + ":" + two(s);
	}
	const [, scale, unit] = unit_of;
	const x = ns / scale, size = Math.abs(x);

	return x.toFixed(scale === 1 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0) + " " + unit;
};

/* An instant of the run in seconds, with the digits that a window of this width needs. */
Page.instant = function (seconds, width) {
	const digits = Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(width))));

	return seconds.toFixed(digits) + " s";
};

/* Called again whenever colours change. */
Page.painters = [];
Page.repaint = function () {
	for (const painter of Page.painters)
		painter();
};

/* "12.3 MB": three digits, powers of 1000. */
Page.bytes = function (bytes) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let i = 0;

	for (; bytes >= 999.5 && i < units.length - 1; i++)
		bytes /= 1000;
	return bytes.toPrecision(3) + " " + units[i];
};
