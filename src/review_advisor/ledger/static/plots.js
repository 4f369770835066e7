// Plots over time, drawn by uPlot. Each has a legend, a line that tells the value under the pointer, and a table.
(function () {
  "use strict";
  const { element, table, words } = dashboard;
  const HEIGHT = 190;
  const DAYS = [1, 2, 3, 7, 14, 28, 56, 91, 182, 364, 728, 1820].map((days) => days * 86400);
  const drawn = new Set();

  // A plot is {title, note, starts, lines: [{label, colour, values}], stacked,
  // band: [low, high], show and tick: number => text}.
  function plot(about) {
    const paper = element("div", { class: "paper", "aria-hidden": "true" });
    const readout = element("p", { class: "readout", "aria-hidden": "true" });
    const figure = element("figure", { class: "plot card" },
      element("figcaption", {}, element("h3", {}, about.title), about.note && element("p", { class: "quiet" }, about.note)),
      element("ul", { class: "legend" }, about.lines.map((line) =>
        element("li", {}, element("span", { class: `swatch ${line.colour}`, "aria-hidden": "true" }), line.label)),
      about.band && element("li", {}, element("span", { class: "swatch band", "aria-hidden": "true" }), "target")),
      paper, readout,
      element("details", {}, element("summary", {}, `Table: ${about.title}`), values(about)));
    const shown = { about, paper, readout, chart: null };
    drawn.add(shown);
    new ResizeObserver(() => fit(shown)).observe(paper);
    return figure;
  }

  function values(about) {
    const tell = (value) => (value === null ? "not measured" : about.show(value));
    const rows = about.starts.map((start, at) => [words.day(start), ...about.lines.map((line) => tell(line.values[at]))]);
    return table(about.title, ["From", ...about.lines.map((line) => line.label)], rows);
  }

  function fit(shown) {
    const width = Math.floor(shown.paper.clientWidth);
    if (!shown.paper.isConnected || width < 50) return;
    if (shown.chart) shown.chart.setSize({ width, height: HEIGHT });
    else draw(shown, width);
  }

  function draw(shown, width) {
    const { about, paper } = shown;
    const starts = about.starts.map((start) => Date.parse(start) / 1000);
    const columns = about.stacked ? stack(about.lines) : about.lines.map((line) => line.values);
    const order = columns.map((_, at) => at);
    if (about.stacked) order.reverse(); // the highest is drawn first, the others before it
    if (shown.chart) shown.chart.destroy();
    shown.chart = new uPlot({
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false, x: false, y: false } },
      tzDate: (second) => uPlot.tzDate(new Date(second * 1000), "Etc/UTC"),
      scales: { x: { range: () => around(starts) }, y: { range: (_, low, high) => [0, roof(high, about)] } },
      axes: [{ ...axis(), size: 32, incrs: DAYS, values: (_, ticks, __, ___, step) => ticks.map((tick) => dated(tick, step)) },
        { ...axis(), size: 66, values: (_, ticks) => ticks.map(about.tick || about.show) }],
      series: [{}, ...order.map((at) => series(about, about.lines[at], paper))],
      hooks: { drawClear: [(chart) => about.band && band(chart, about.band)], setCursor: [(chart) => read(shown, chart.cursor.idx)] },
    }, [starts, ...order.map((at) => columns[at])], paper);
    read(shown, null);
  }

  function series(about, line, paper) {
    const colour = colourOf(paper, line.colour);
    if (about.stacked) {
      return { fill: colour, stroke: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 34] }) };
    }
    return { stroke: colour, width: 2, points: { show: true, size: 6, fill: colour } };
  }

  function axis() {
    const root = document.documentElement;
    return {
      stroke: colourOf(root, "axis"),
      grid: { stroke: colourOf(root, "grid"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    };
  }

  function dated(second, step) {
    return (step >= 28 * 86400 ? words.ticks.month : words.ticks.day).format(second * 1000);
  }

  // Room for half a bar, also where there is one point only.
  function around(starts) {
    const last = starts[starts.length - 1];
    const step = starts.length > 1 ? (last - starts[0]) / (starts.length - 1) : 86400;
    return [starts[0] - step * 0.6, last + step * 0.6];
  }

  function roof(high, about) {
    const top = Math.max(high || 0, about.band ? about.band[1] || 0 : 0);
    return top > 0 ? top * 1.1 : 1;
  }

  function stack(lines) {
    const below = lines[0].values.map(() => 0);
    return lines.map((line) => line.values.map((value, at) => (below[at] += value)));
  }

  function band(chart, [low, high]) {
    const top = chart.valToPos(high ?? chart.scales.y.max, "y", true);
    const bottom = chart.valToPos(low ?? 0, "y", true);
    chart.ctx.fillStyle = colourOf(document.documentElement, "band");
    chart.ctx.fillRect(chart.bbox.left, top, chart.bbox.width, bottom - top);
  }

  function read({ about, readout }, at) {
    if (at === null || at === undefined) {
      readout.textContent = "\u00a0";
      return;
    }
    const told = about.lines.filter((line) => line.values[at] !== null && !(about.stacked && line.values[at] === 0));
    const tell = told.map((line) => `${line.label} ${about.show(line.values[at])}`);
    readout.textContent = `${words.day(about.starts[at])}: ${tell.join(", ") || "nothing measured"}`;
  }

  // Colours stand in the style sheet; a canvas has to be told the one that holds now.
  function colourOf(near, name) {
    const probe = element("i", { class: `swatch ${name}` });
    (near === document.documentElement ? document.body : near).append(probe);
    const colour = getComputedStyle(probe).backgroundColor;
    probe.remove();
    return colour;
  }

  document.addEventListener("theme", () => {
    for (const shown of drawn) {
      if (!shown.paper.isConnected) drawn.delete(shown);
      else if (shown.chart) draw(shown, Math.floor(shown.paper.clientWidth));
    }
  });

  dashboard.plot = plot;
})();
