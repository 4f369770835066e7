// Whether stated confidence came true: reliability, and risk by coverage. Drawn as SVG; the tables hold every number.
(function () {
  "use strict";
  const { element, put, table, words } = dashboard;
  const SVG = "http://www.w3.org/2000/svg";
  const DRAWN = /^(viewBox|class|x|y|x1|y1|x2|y2|cx|cy|r|width|height|points|transform)$/;
  const EDGE = { left: 58, top: 8, side: 260, bottom: 40 };
  const WIDE = EDGE.left + EDGE.side + 22;
  const TALL = EDGE.top + EDGE.side + EDGE.bottom;

  dashboard.showCalibration = (main, { calibration }) => {
    const { findings, labelled, sources, plots, further } = calibration;
    put(main, element("h1", { tabindex: "-1" }, "Calibration"),
      element("p", { class: "quiet" }, `${words.count(findings, "finding")} of this dashboard's runs were shown on pull requests. `
        + `People judged ${words.number(labelled)} of them${findings ? ` (${words.share(labelled / findings)})` : ""}. ${told(sources)}`),
      plots.length ? plots.map(kind) : element("p", { class: "empty" }, "Plots need 30 findings that people judged: `review-advisor observe` records what they did."),
      further > 0 && element("p", { class: "quiet" }, `${words.count(further, "more kind")}: \`review-advisor calibrate\` tells all of them.`));
  };

  const told = (sources) => sources.filter(([name, many]) => name !== "people" && many)
    .map(([name, many]) => `A ${name} says something of ${words.number(many)} more, which no plot counts.`).join(" ");

  function kind(about) {
    const name = about.kind === "all" ? "All findings" : about.kind;
    return element("section", {},
      element("h2", { dir: "auto" }, name),
      element("p", { class: "quiet" }, `${words.number(about.right)} of ${words.count(about.labels, "judged finding")} on `
        + `${words.count(about.pull_requests, "pull request")} were right. Calibration error ${about.ece.toFixed(3)}, Brier score `
        + `${about.brier.toFixed(3)}: 0 is best.`),
      element("div", { class: "plots" }, reliability(about, name), risk(about, name)));
  }

  function reliability({ bins }, name) {
    const dots = bins.map(([, , , stated, observed, low, high]) => [
      drawn("line", { class: "interval", x1: across(stated), x2: across(stated), y1: down(low), y2: down(high) }),
      drawn("circle", { class: "dot", cx: across(stated), cy: down(observed), r: 5 })]);
    const ideal = drawn("line", { class: "ideal", x1: across(0), y1: down(0), x2: across(1), y2: down(1) });
    return figure("Reliability", name, "Below the dashed line, findings were right less often than stated. Bars are 95% intervals.",
      paper("stated confidence", "share that was right", [ideal, dots]),
      ["Confidence", "Findings", "Stated", "Right", "95% interval"],
      bins.map(([low, high, cases, stated, observed, from, to]) => [`${low.toFixed(1)} to ${high.toFixed(1)}`, words.number(cases),
        words.share(stated), words.share(observed), `${words.share(from)} to ${words.share(to)}`]));
  }

  function risk({ curve, right, labels }, name) {
    const points = [[0, curve[0][2]], ...curve.map(([, coverage, share]) => [coverage, share])];
    const line = drawn("polyline", { class: "risk", points: points.map(([x, y]) => `${across(x)},${down(y)}`).join(" ") });
    const dots = curve.map(([, coverage, share]) => drawn("circle", { class: "dot", cx: across(coverage), cy: down(share), r: 2.5 }));
    const wrong = 1 - right / labels;
    const level = drawn("line", { class: "ideal", x1: across(0), y1: down(wrong), x2: across(1), y2: down(wrong) });
    return figure("Risk by coverage", name, "Of the surest findings, how many were wrong. Useful confidence begins below the dashed line, which is all findings together.",
      paper("share of findings, the surest first", "share that was wrong", [level, line, dots]),
      ["Confidence from", "Coverage", "Wrong"],
      curve.map(([confidence, coverage, share]) => [words.share(confidence), words.share(coverage), words.share(share)]));
  }

  function figure(title, name, note, drawing, heads, rows) {
    return element("figure", { class: "plot square card" },
      element("figcaption", {}, element("h3", {}, title), element("p", { class: "quiet" }, note)), drawing,
      element("details", {}, element("summary", {}, `Table: ${title}`), table(`${title}: ${name}`, heads, rows)));
  }

  const across = (share) => EDGE.left + EDGE.side * share;
  const down = (share) => EDGE.top + EDGE.side * (1 - share);

  // Both axes go from 0 to 1.
  function paper(below, beside, marks) {
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((at) => [
      drawn("line", { class: "grid", x1: across(at), x2: across(at), y1: down(0), y2: down(1) }),
      drawn("line", { class: "grid", x1: across(0), x2: across(1), y1: down(at), y2: down(at) }),
      text("tick below", across(at), down(0) + 15, `${100 * at}%`),
      text("tick beside", EDGE.left - 6, down(at) + 4, `${100 * at}%`)]);
    const made = drawn("svg", { class: "drawing", viewBox: `0 0 ${WIDE} ${TALL}` }, ticks, marks,
      text("tick below", across(0.5), TALL - 8, below),
      drawn("g", { transform: `rotate(-90 10 ${down(0.5)})` }, text("tick below", 10, down(0.5) + 4, beside)));
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  function text(kind, x, y, words) {
    const made = drawn("text", { class: kind, x, y });
    made.textContent = words;
    return made;
  }

  function drawn(tag, given, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(given)) {
      if (!DRAWN.test(name)) throw new TypeError(`no attribute of ours: ${name}`);
      made.setAttribute(name, String(value));
    }
    made.append(...children.flat(Infinity));
    return made;
  }
})();
