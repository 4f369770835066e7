// The page of one run.
(function () {
  "use strict";
  const { element, link, put, badge, words } = dashboard;

  let reach = () => {}; // shows the timeline as far as an event

  // `kinds` says of kinds of findings how often they were right.
  dashboard.showRun = (main, page, kinds) => {
    const { run } = page;
    const timeline = dashboard.timeline(page);
    reach = timeline.reach;
    put(main,
      element("nav", { class: "crumbs", "aria-label": "Where this is" }, link(["runs"], {}, "Runs"), " / ", element("code", {}, run.run_id)),
      element("header", { class: "runhead" },
        element("h1", { tabindex: "-1", dir: "auto" }, run.title || "(no title)"),
        element("p", {}, badge(run.status, run.like), " ", element("span", { class: "quiet" },
          run.repository ? dashboard.github(run, `pull/${run.pull_request}`, `${run.repository}#${run.pull_request}`) : run.label,
          " · ", words.moment(run.started_at)))),
      notices(page),
      page.why.length ? element("ul", { class: "why" }, page.why.map((why) => element("li", { dir: "auto" }, why))) : null,
      section("summary", "Summary", summary(page)),
      run.kind !== "task" && section("findings", page.findings.length ? `Findings (${page.findings.length})` : "Findings",
        page.findings.length ? page.findings.map((finding) => dashboard.finding(finding, run, known(kinds, finding))) : element("p", { class: "quiet" }, noFinding(page))),
      page.disputes.length > 0 && section("disputes", "Disagreement", page.disputes.map((line) =>
        element("p", { class: line.startsWith("  ") ? "quiet prose" : "prose", dir: "auto" }, line.trim()))),
      page.council.length > 0 && section("council", "Council", page.council.map((vote) => element("pre", { tabindex: "0" }, vote))),
      page.unlabelled && section("became", "What became of the pull request", element("p", { class: "notice" }, page.unlabelled)),
      page.became.length > 0 && section("became", "What became of the pull request",
        element("ul", { class: "plain" }, page.became.map((fact) => element("li", { dir: "auto" }, fact)))),
      page.repair && section("repair", repair(run), dashboard.patch(page.repair, repair(run))),
      page.not_read.length > 0 && section("unread", "Not read", element("ul", { class: "plain" }, page.not_read.map((line) => element("li", { dir: "auto" }, line)))),
      page.entries.length > 0 && section("timeline", "Timeline", unfolding(), timeline.parts),
      page.costs.length > 0 && section("costs", "Cost", dashboard.costTable("Cost of this run by role and model", page.costs)));
  };

  // The event that the address names: brought into sight, opened, and spoken of.
  dashboard.pointAt = (number) => {
    document.querySelectorAll(".entry.named").forEach((entry) => entry.classList.remove("named"));
    reach(number);
    const entry = document.getElementById(`e${number}`);
    if (!entry) return false;
    entry.classList.add("named");
    entry.querySelectorAll("details").forEach((each) => { each.open = true; });
    entry.focus({ preventScroll: true });
    entry.scrollIntoView({ block: "start" });
    return true;
  };

  const known = (kinds, { kind }) => (kind && Object.hasOwn(kinds, kind) ? kinds[kind] : "");

  function noFinding({ run, repair, disputes }) {
    if (run.status === "unfinished") return "Findings are settled when a review ends.";
    if (repair) return "With the suggested repair none is left; the head still has what was vetoed.";
    return disputes.length ? "The executor reported none; what the advisor missed stands below." : "Nothing was found.";
  }

  function notices({ run, trouble }) {
    if (trouble) return element("p", { class: "notice bad" }, trouble, " What follows is what the ledger's rows say.");
    if (run.kind === "task") {
      return run.status !== "running" ? null
        : element("p", { class: "notice" }, "No end of this task is recorded: it is under way, or its process was killed.");
    }
    if (run.status !== "unfinished") return null;
    return element("p", { class: "notice" }, "No end of this run is recorded: it is under way, or its process was killed. "
      + "Started again, the review goes on with the answers that were paid for.");
  }

  const repair = (run) => (run.kind === "task" ? "The executor's patch" : "Suggested repair");

  function section(id, title, ...children) {
    return element("section", { "aria-labelledby": `${id}-heading` }, element("h2", { id: `${id}-heading` }, title), children);
  }

  function summary(page) {
    return element("dl", { class: "summary card" }, page.summary.map(([label, value]) =>
      element("div", {}, element("dt", {}, label), element("dd", { dir: "auto" }, value))));
  }

  function unfolding() {
    const turn = (open) => document.querySelectorAll(".timeline details").forEach((each) => { each.open = open; });
    return element("p", { class: "tools" },
      element("button", { type: "button", on: { click: () => turn(true) } }, "Unfold all"),
      element("button", { type: "button", on: { click: () => turn(false) } }, "Fold all"));
  }
})();
