/* SPDX-License-Identifier: Apache-2.0 */
/* Line charts over the time of the run: what those of steps and of memory share. */

Page.gridColors = () => ({ gridLineColor: Page.color("grid"), axisLineColor: Page.color("grid") });

/* Text for a value of the vertical axis is made by label. Returns the chart: the given one with the
   changed options, or a new one with the fixed options, too. */
Page.lineChart = (chart, canvas, changed, fixed, label) => {
	if (chart) {
		chart.updateOptions(changed);
		return chart;
	}
	const options = Object.assign({
		legend: "never",
		strokeWidth: 1.5,
		includeZero: true,
		gridLineWidth: 0.5,
		axisLabelFontSize: 12,
		axes: {
			x: { axisLabelFormatter: (x, granularity, options, made) => Page.instant(x, Page.tickWidth(made)) },
			y: { axisLabelFormatter: (y) => label(y), axisLabelWidth: 64 },
		},
	}, Page.gridColors(), fixed, changed);

	return new Dygraph(canvas, changed.file, options);
};

Page.tickWidth = (chart) => {
	const [from, to] = chart.xAxisRange();

	return (to - from) / 5;
};
