// The list of runs: a form of filters, whose state is the address, and a page of rows.
(function () {
  "use strict";
  const { element, link, place, put, badge, words, filters, say } = dashboard;
  const ROWS = 50;
  const LABELS = {
    text: "Title or task holds", status: "Status", surface: "Surface", role: "Role", model: "Model", backend: "Backend of a task", error: "Error", repository: "Repository",
    pr: "Pull request", cost: "Cost in $", consults: "Consults", since: "Since (UTC)", until: "Before (UTC)",
  };
  const TYPES = { text: "search", pr: "number", since: "date", until: "date" };
  const HINTS = { cost: "0.1..2", consults: "1..", text: "words" };

  // The address holds the filters: `route` reads and replaces it.
  dashboard.showRuns = async (main, about, route) => {
    const chunks = [];
    const found = element("div", {});
    const apart = about.apart && asideFrom(about);
    const heading = element("h1", { tabindex: "-1" }, "Runs");
    const form = element("form", { class: "filters card", role: "search", "aria-label": "Filter the runs" });
    form.addEventListener("submit", (event) => event.preventDefault());
    // Thirteen fields would fill a phone before the first run is seen.
    const narrow = matchMedia("(max-width: 900px)");
    const used = filters.NAMES.some((name) => route.query()[name]);
    const fold = element("details", { class: "fold", open: used || !narrow.matches }, element("summary", {}, "Filters"), form);
    put(main, heading, fold, found, apart);
    if (!about.lists.length) {
      fold.remove();
      put(found, element("p", { class: "empty" }, "No run is recorded in this time."));
      return;
    }
    const show = () => list(found, chunks, about, route, form);
    const ask = () => {
      route.replace(place(["runs"], asked(form)));
      show();
    };
    for (const digest of about.lists) {
      chunks.push(await dashboard.load(`lists/${digest}`));
      if (!route.isCurrent()) return;
    }
    fill(form, chunks, route.query(), ask);
    show();
  };

  function asked(form) {
    return Object.fromEntries(filters.NAMES.map((name) => [name, form.elements[name].value.trim()]));
  }

  function fill(form, chunks, query, ask) {
    const options = choices(chunks);
    put(form, filters.NAMES.map((name) => field(name, options[name], query[name] || "")),
      element("button", { type: "button", on: { click: () => {
        filters.NAMES.forEach((name) => { form.elements[name].value = ""; });
        ask();
      } } }, "Clear"));
    form.addEventListener("input", ask);
  }

  function field(name, options, value) {
    const id = `filter-${name}`;
    const label = element("label", { for: id }, LABELS[name]);
    if (!options) {
      const entry = element("input", { id, name, type: TYPES[name] || "text", placeholder: HINTS[name], autocomplete: "off" });
      entry.value = value;
      return element("div", { class: "field" }, label, entry, element("p", { class: "wrong", id: `${id}-wrong` }));
    }
    const known = value && !options.some(([each]) => each === value) ? [...options, [value, value]] : options;
    const select = element("select", { id, name }, element("option", { value: "" }, "all"),
      known.map(([each, shown]) => element("option", { value: each }, shown)));
    select.value = value;
    return element("div", { class: "field" }, label, select);
  }

  // What the list itself offers to choose from.
  function choices(chunks) {
    const statuses = chunks.flatMap((chunk) => chunk.columns.status);
    const parts = chunks.flatMap((chunk) => chunk.castings.flat());
    const some = (values, shown = (value) => value) => [...new Set(values)].filter(Boolean).sort().map((value) => [value, shown(value)]);
    return {
      status: [...Object.entries(words.STATUSES), ...some(statuses.filter((status) => !Object.hasOwn(words.STATUSES, status)), words.status)],
      surface: some(parts.map((part) => part[0]), words.plain),
      role: Object.entries(words.ROLES),
      model: some(parts.map((part) => part[2])),
      backend: some(parts.filter((part) => part[0] === "task").map((part) => part[2])),
      error: [["any", "any error"], ["none", "no error"], ...some(parts.map((part) => part[3]), words.plain)],
      repository: some(chunks.flatMap((chunk) => chunk.columns.repository)),
    };
  }

  function list(found, chunks, about, route, form) {
    const query = route.query();
    const { wrong, holds } = filters.wanted(query);
    mark(form, wrong);
    const hits = [];
    for (const chunk of chunks) {
      for (let row = 0; row < chunk.columns.run_id.length; row += 1) if (holds(chunk, row)) hits.push([chunk, row]);
    }
    const pages = Math.max(Math.ceil(hits.length / ROWS), 1);
    const page = Math.min(Math.max(Number.parseInt(query.page, 10) || 1, 1), pages);
    const first = (page - 1) * ROWS;
    const rows = hits.slice(first, first + ROWS);
    const leftOut = about.left_out + about.tasks_left_out;
    const told = hits.length === about.runs ? words.count(about.runs, "run") : `${words.number(hits.length)} of ${words.count(about.runs, "run")}`;
    put(found,
      element("p", { class: "count", id: "count" }, told, leftOut ? `; ${words.number(leftOut)} more ${leftOut === 1 ? "has" : "have"} no page` : ""),
      rows.length ? element("ol", { class: "runs" }, rows.map(([chunk, row]) => line(chunk.columns, row)))
        : element("p", { class: "empty" }, "No run matches. Fewer filters find more."),
      pages > 1 && turning(query, page, pages));
    say(told);
  }

  // The run at which the dashboard opens, where it is none of the list: beyond its limit, or not of its time.
  function asideFrom(about) {
    return element("section", {}, element("h2", {}, "Asked for, and not in the list"),
      element("p", { class: "quiet" }, about.apart_counts ? "It is of this time, and counts as the listed ones do."
        : "It is not of this time, and counts in nothing else that is shown here."),
      element("ol", { class: "runs" }, line(about.apart.columns, 0)));
  }

  function mark(form, wrong) {
    for (const name of ["cost", "consults"]) {
      const entry = form.elements[name];
      const isWrong = wrong.includes(name);
      entry.setAttribute("aria-invalid", String(isWrong));
      entry.setAttribute("aria-describedby", `filter-${name}-wrong`);
      document.getElementById(`filter-${name}-wrong`).textContent = isWrong ? "Give N, A..B, A.. or ..B." : "";
    }
  }

  function line(columns, row) {
    const of = (column) => columns[column][row];
    const isTask = of("kind") === "task";
    const change = of("repository") ? `${of("repository")}#${of("pull_request")}` : of("label");
    return element("li", {}, link(["run", of("run_id")], { class: "run" },
      element("span", { class: "state" }, badge(of("status"), of("like")),
        isTask && element("span", { class: "flag" }, "task"), of("flags").map((flag) => element("span", { class: "flag" }, words.flag(flag)))),
      element("span", { class: "what" }, element("strong", { dir: "auto" }, of("title") || "(no title)"),
        element("span", { class: "quiet" }, change, " · ", words.moment(of("started_at")))),
      element("span", { class: "numbers" },
        element("span", {}, isTask ? "" : words.count(of("findings"), "finding")),
        element("span", {}, isTask ? "" : words.count(of("vetoes"), "veto").replace("vetos", "vetoes")),
        element("span", {}, words.count(of("consults"), "consult")),
        element("span", {}, words.seconds(of("wall_ms") === null ? null : of("wall_ms") / 1000)),
        element("span", { class: "cost" }, words.money(of("cost_usd"), of("unpriced"))))));
  }

  function turning(query, page, pages) {
    const to = (number, text) => (number < 1 || number > pages ? element("span", { class: "quiet" }, text)
      : link(["runs"], { query: { ...query, page: String(number) } }, text));
    return element("nav", { class: "turning", "aria-label": "Pages of the list" },
      to(page - 1, "← Newer"), element("span", {}, `Page ${page} of ${pages}`), to(page + 1, "Older →"));
  }
})();
