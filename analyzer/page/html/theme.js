/* SPDX-License-Identifier: Apache-2.0 */
/* Light, dark, or what the system says; paper is light. */

Page.setTheme = function (theme) {
	if (theme === "auto")
		delete document.documentElement.dataset.theme;
	else
		document.documentElement.dataset.theme = theme;
	Page.repaint();
};

Page.themeButton = function () {
	const themes = ["auto", "light", "dark"];
	let at = 0;
	const button = Page.button(Page.say("theme_auto"), Page.say("theme_hint"), () => {
		at = (at + 1) % themes.length;
		button.textContent = Page.say("theme_" + themes[at]);
		Page.setTheme(themes[at]);
	});

	button.id = "theme";
	document.querySelector("header").append(button);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", Page.repaint);
	window.addEventListener("beforeprint", () => Page.setTheme("light"));
	window.addEventListener("afterprint", () => Page.setTheme(themes[at]));
};
