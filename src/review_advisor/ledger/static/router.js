// Which page the address names: #/overview, #/runs?filters, #/evaluations, #/calibration, #/run/ID, #/run/ID/eN.
(function () {
  "use strict";
  const { element, link, put, load, say } = dashboard;
  const main = document.getElementById("main");
  const TITLE = "review-advisor";
  let shown = ""; // the run that is on the page
  let turn = 0;
  const places = new Map(); // how far each entry of the history was scrolled
  let entry = 0;
  let back = null; // where a reader who goes back was
  history.scrollRestoration = "manual";

  function remember() {
    places.set(entry, scrollY);
  }

  // An entry that we have numbered is one that the reader has come back to.
  function step() {
    const known = history.state && history.state.entry;
    back = known ? places.get(known) ?? 0 : null;
    if (known) entry = known;
    else history.replaceState({ entry: (entry = places.size + 1) }, "", location.href);
    places.set(entry, back ?? 0);
  }

  function read() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
    const steps = path.split("/").filter(Boolean).map((step) => {
      try {
        return decodeURIComponent(step);
      } catch {
        return step;
      }
    });
    return { steps, query: Object.fromEntries(new URLSearchParams(query || "")) };
  }

  // What a page may know of the address; `isCurrent` is no longer so once the reader has gone on.
  const route = (mine) => ({
    query: () => read().query,
    replace: (fragment) => history.replaceState(history.state, "", fragment),
    isCurrent: () => mine === turn,
  });

  async function go(isFirst) {
    const mine = (turn += 1);
    try {
      const about = await load("overview");
      const { steps } = read();
      const where = steps.length ? steps : isFirst && about.opens ? ["run", about.opens] : ["overview"];
      if (where[0] === "run" && where.length > 1) return await showRun(where[1], where[2], mine, isFirst);
      shown = "";
      if (where[0] === "runs") await dashboard.showRuns(main, about, route(mine));
      else if (where[0] === "overview") dashboard.showOverview(main, about);
      else if (where[0] === "evaluations") dashboard.showEvaluations(main, about);
      else if (where[0] === "calibration") dashboard.showCalibration(main, about);
      else nothing("There is no such page.");
      return mine === turn && arrive(where[0], isFirst);
    } catch (problem) {
      return mine === turn && nothing(problem.message);
    }
  }

  async function showRun(id, event, mine, isFirst) {
    const wanted = /^e\d{1,9}$/.test(event || "") ? Number(event.slice(1)) : null;
    if (shown !== id) {
      const file = await fileOf(id);
      if (mine !== turn) return undefined;
      if (!file) return nothing(`The run ${id} is not in this dashboard.`);
      const page = await load(`runs/${file}`);
      if (mine !== turn) return undefined;
      dashboard.showRun(main, page, (await load("overview")).kinds);
      arrive("runs", isFirst);
      document.title = `${page.run.title || id} · ${TITLE}`;
      shown = id;
    }
    if (event && (wanted === null || !dashboard.pointAt(wanted))) say("This run has no such event.");
    return undefined;
  }

  async function fileOf(id) {
    const about = await load("overview");
    if (about.apart && about.apart.columns.run_id[0] === id) return about.apart.columns.file[0];
    for (const digest of about.lists) {
      const { columns } = await load(`lists/${digest}`);
      const row = columns.run_id.indexOf(id);
      if (row >= 0) return columns.file[row];
    }
    return null;
  }

  function nothing(sentence) {
    shown = "";
    put(main, element("h1", { tabindex: "-1" }, "Nothing to show"), element("p", { class: "empty", role: "alert" }, sentence),
      element("p", {}, link(["runs"], {}, "All runs")));
    arrive("", false);
  }

  function arrive(page, isFirst) {
    for (const each of ["overview", "runs", "evaluations", "calibration"]) {
      const its = document.getElementById(`to-${each}`);
      if (each === page) its.setAttribute("aria-current", "page");
      else its.removeAttribute("aria-current");
    }
    const heading = main.querySelector("h1");
    document.title = `${heading.textContent} · ${TITLE}`;
    if (isFirst) return;
    heading.focus({ preventScroll: true });
    scrollTo(0, back ?? 0);
  }

  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("scroll", remember, { passive: true });
  addEventListener("hashchange", () => {
    step();
    go(false);
  });
  step();
  go(true);
})();
