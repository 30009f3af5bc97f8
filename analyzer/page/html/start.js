/* SPDX-License-Identifier: Apache-2.0 */
/* Once the page is read. The script stands at its end. */

Page.start = function () {
	const live = (id) => {
		const holder = document.getElementById(id);

		holder.hidden = false;
		return holder;
	};
	const flame = Page.data("flame"), heat = Page.data("heat");
	const training = Page.data("training"), timeline = Page.data("timeline");
	const steps = (Page.data("steps") || { steps: [] }).steps;
	const stepsHolder = steps.length ? live("steps-chart") : null;
	const lanesHolder = timeline && timeline.lanes.length ? live("lanes-chart") : null;
	const heatHolder = heat && heat.measures.length ? live("heat-chart") : null;
	const flameHolder = flame && flame.stacks.length ? live("flame-chart") : null;

	document.documentElement.classList.add("has-script");
	/* The legend is not used, because it writes style attributes, which the page's policy forbids. */
	Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
	Page.measureBar();
	Page.themeButton();
	Page.tables();
	if (stepsHolder)
		Page.steps = new Page.Steps(stepsHolder, steps, training);
	if (stepsHolder && Page.Memory.keys(steps).length)
		Page.memory = new Page.Memory(stepsHolder, Page.steps);
	if (lanesHolder)
		Page.lanes = new Page.Lanes(lanesHolder, timeline, steps, training);
	if (heatHolder)
		Page.heat = new Page.Heat(heatHolder, heat);
	if (flameHolder)
		Page.flame = new Page.Flame(flameHolder, flame);
};

/* A heading that a link leads to stands below the bar, however many rows the bar has. */
Page.measureBar = function () {
	const bar = document.querySelector("nav");
	const measure = () => document.documentElement.style.setProperty("--bar", bar.offsetHeight + 16 + "px");

	new ResizeObserver(measure).observe(bar);
	measure();
};

Page.start();
