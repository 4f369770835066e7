// The first page: KPIs, plots, and what it all cost.
(function () {
  "use strict";
  const { element, link, put, table, plot, badge, words } = dashboard;

  dashboard.showOverview = (main, about) => {
    const sections = [element("h1", { tabindex: "-1" }, "Overview"), element("p", { class: "quiet" }, period(about))];
    if (about.left_out) sections.push(element("p", { class: "notice" }, leftOut(about)));
    if (!about.sums.runs) {
      sections.push(element("p", { class: "empty" }, "The ledger has no run of this time. The next review will be the first."));
    } else {
      sections.push(alerts(about), ends(about), section("KPIs", kpis(about)), section("Over time", plots(about)), section("Cost by role and model", lacking(about, "used"), costs(about)), alike(about), dashboard.repositoryTable(about));
      if (about.shadow_mode.length) sections.push(section("In shadow mode", element("pre", { tabindex: "0" }, about.shadow_mode.join("\n"))));
    }
    put(main, sections);
  };

  function section(title, ...children) {
    return element("section", {}, element("h2", {}, title), children);
  }

  function period(about) {
    const began = about.since || about.plots.starts[0];
    const since = began ? `since ${words.moment(began)}` : "in the ledger";
    return `${words.count(about.sums.runs, "run")} ${since}; written ${words.moment(about.made)} (all times are UTC).${tasks(about)}`;
  }

  function tasks({ tasks: many }) {
    if (!many) return "";
    return ` This page is about reviews; the list of runs also has ${words.count(many, "task")}.`;
  }

  function leftOut(about) {
    return `${words.count(about.left_out, "run")} ${about.left_out === 1 ? "has no page here and counts" : "have no page here and count"} `
      + "in the KPIs and plots only: `review-advisor ui --limit` chooses.";
  }

  // What `review-advisor alerts` said when this was written.
  function alerts({ alerts: raised }) {
    return raised.length > 0 && element("section", { class: "notice bad", "aria-label": "Alerts" },
      element("strong", {}, words.count(raised.length, "alert")), element("ul", {}, raised.map((alert) => element("li", {}, alert))));
  }

  function ends(about) {
    const total = about.sums.runs;
    return element("section", { class: "card ends", "aria-label": "How the runs ended" },
      element("ul", { class: "tiles" }, Object.entries(about.ends).map(([status, many]) =>
        element("li", {}, link(["runs"], { class: "tile", query: { status } },
          element("strong", {}, words.number(many)), badge(status),
          element("span", { class: "quiet" }, words.share(many / total)))))),
      element("p", {}, element("strong", {}, `${words.money(about.money.reported_usd)} spent`),
        element("span", { class: "quiet" }, spent(about.money))));
  }

  function spent({ by_price_usd: byPrice, unknown_calls: unknown, unknown_models: models }) {
    const reported = `, as the calls reported${byPrice ? `; calls that reported nothing: ${words.money(byPrice)} by the list of prices` : ""}`;
    if (!unknown) return `${reported}.`;
    return `${reported}; what ${words.count(unknown, "call")}${models.length ? ` of ${models.join(", ")}` : ""} cost is unknown.`;
  }

  function kpis(about) {
    return element("ul", { class: "kpis" }, about.kpis.map((kpi) =>
      element("li", { class: "card kpi" },
        element("h3", {}, words.kpi(kpi.name)),
        element("p", { class: kpi.value === null ? "value none" : "value" }, kpi.shown),
        element("p", {}, element("span", { class: `verdict ${kpi.judgement.replace(" ", "-")}` }, judged(kpi)),
          kpi.wanted === "-" ? null : element("span", { class: "quiet" }, ` target ${kpi.wanted}`)),
        element("p", { class: "quiet" }, kpi.because ? `${kpi.means}: ${kpi.because}.` : `${kpi.means}; ${words.count(kpi.cases, kpi.case)}.`))));
  }

  function judged(kpi) {
    return { met: "✓ met", missed: "✗ missed" }[kpi.judgement] || kpi.judgement;
  }

  function plots(about) {
    const { starts, ends, bands, ...columns } = about.plots;
    const priced = columns.by_price_usd.some((usd) => usd > 0); // a guess beside a figure, never on top of it
    const unknown = columns.unknown_calls.reduce((sum, calls) => sum + calls, 0);
    const line = (label, colour, values) => ({ label, colour, values });
    return element("div", { class: "plots" },
      plot({ title: "Reviews by outcome", starts, stacked: true, show: words.number,
        lines: Object.entries(ends).map(([status, values]) => line(words.status(status), status, values)) }),
      plot({ title: "Cost", starts, stacked: !priced, show: words.money, tick: words.ticks.money,
        lines: [line("reported", "first", columns.reported_usd), priced && line("by the list of prices", "second", columns.by_price_usd)].filter(Boolean),
        note: unknown ? `The cost of ${words.count(unknown, "call")} is unknown and not in it.` : "" }),
      plot({ title: "Consult share of tokens", starts, band: bands.consult_share, show: words.share,
        lines: [line("consult share", "first", columns.consult_share)] }),
      plot({ title: "Reviews with a consult", starts, band: bands.consult_rate, show: words.share,
        lines: [line("consult rate", "first", columns.consult_rate)] }),
      plot({ title: "Median wall clock", starts, show: words.seconds, tick: words.ticks.clock,
        lines: [line("review", "first", columns.wall_s), line("executor's first attempts", "second", columns.executor_s)] }));
  }

  // A table is made of the events of the runs that have a page.
  function lacking(about, did) {
    const gaps = [about.left_out && `what ${words.count(about.left_out, "run")} ${did} that ${about.left_out === 1 ? "has" : "have"} no page`,
      about.untold && `what ${words.count(about.untold, "run")} ${did} whose events cannot be told`].filter(Boolean);
    return gaps.length > 0 && element("p", { class: "notice" }, `Not in this table: ${gaps.join("; ")}.`);
  }

  function costs(about) {
    return about.costs.length ? dashboard.costTable("Cost by role and model", about.costs)
      : element("p", { class: "empty" }, "No call is recorded.");
  }

  // What `rollup --advice` prints: a kappa of 1 is one voice that is paid for twice.
  function alike({ pairs, further_pairs: further, ...about }) {
    return pairs.length > 0 && section("How alike members of councils vote",
      lacking(about, "voted"), table("How alike members of councils vote", ["Two members", "Votes", "Agree", "Kappa"], pairs),
      further > 0 && element("p", { class: "quiet" }, `${words.count(further, "more pair")}.`));
  }

  dashboard.costTable = (caption, costs) =>
    table(caption, ["Role", "Model", "Calls", "Tokens in", "Read from cache", "Written to cache", "Tokens out", "Cost", "Cost per call"], costs.map((cost) => [
      words.role(cost.role), cost.model, calls(cost), tokens(cost, cost.input_tokens),
      tokens(cost, cost.cache_read_tokens), tokens(cost, cost.cache_write_tokens), tokens(cost, cost.output_tokens), price(cost), words.money(cost.per_call_usd)]));

  // Where executor and consulted advisor are one model, what is known only as one sum is counted with the executor.
  const consulted = (cost) => cost.role === "mid_flight";
  const calls = (cost) => (consulted(cost) ? words.count(cost.calls, "consult") : words.number(cost.calls));
  const tokens = (cost, many) => (consulted(cost) && cost.shared && cost.tokens === 0 ? "with the executor" : words.number(many));

  function price(cost) {
    const money = words.money(cost.cost_usd, cost.unpriced, consulted(cost) ? "consult" : "call");
    if (!cost.shared) return money;
    if (!consulted(cost)) return `${money}, consults included`;
    return cost.cost_usd === null ? "with the executor" : `${money}, the rest with the executor`;
  }
})();
