// What changed: a patch line by line, and the executor's findings before and after.
(function () {
  "use strict";
  const { element, link, words } = dashboard;
  const SIGNS = { new: "+", gone: "−", changed: "~", same: "=" };
  const TOLD = { new: "new", gone: "gone", changed: "changed", same: "as before" };

  dashboard.patch = (text, label) =>
    element("pre", { class: "patch", role: "group", tabindex: "0", "aria-label": label },
      text.split("\n").map((line) => element("span", { class: kind(line) }, `${line}\n`)));

  function kind(line) {
    if (/^(diff |index |--- |\+\+\+ |new file|deleted file|rename |similarity )/.test(line)) return "file";
    if (line.startsWith("@@")) return "hunk";
    return { "+": "added", "-": "removed" }[line[0]] || "";
  }

  dashboard.severity = (severity) => element("span", { class: `severity ${severity}` }, severity);

  // `run` is the id of the run: both reports are linked to.
  dashboard.change = (change, run, after) => {
    if (change.after === null) {
      return element("section", { class: "change" }, element("h4", {}, `What it changed`),
        element("p", { class: "quiet" }, `The executor gave no report after this ${after}.`));
    }
    const report = (number, verdict) => (number === null ? element("span", { class: "quiet" }, "no report before")
      : link(["run", run, `e${number}`], {}, `${verdict} (event ${number})`));
    return element("section", { class: "change" },
      element("h4", {}, "What it changed"),
      element("p", {}, "Verdict: ", report(change.before, change.verdicts[0]), " → ", report(change.after, change.verdicts[1])),
      change.findings.length ? element("ul", { class: "compared" }, change.findings.map(compared))
        : element("p", { class: "quiet" }, "No finding before, and none after."),
      change.patch ? [element("p", {}, "The repair that was accepted:"), dashboard.patch(change.patch, "Repair")] : null);
  };

  function compared(finding) {
    const told = finding.how === "changed" ? `was ${finding.was}` : TOLD[finding.how];
    return element("li", { class: finding.how },
      element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[finding.how]),
      element("span", { class: "how" }, told), dashboard.severity(finding.severity),
      element("span", { dir: "auto" }, finding.title), element("code", {}, finding.place));
  }

  const blob = (finding, run) => {
    const path = finding.path.split("/").map(encodeURIComponent).join("/");
    return `blob/${run.head_sha}/${path}#L${finding.line}`;
  };

  // `run` names the repository that the finding's line is linked to. `known` is a sentence on its kind.
  dashboard.finding = (finding, run = {}, known = "") =>
    element("details", { class: "finding" },
      element("summary", {}, dashboard.severity(finding.severity), " ", element("strong", { dir: "auto" }, finding.title), " ",
        element("code", {}, `${finding.path}:${finding.line}`)),
      run.head_sha && !finding.removed && run.repository
        && element("p", {}, dashboard.github(run, blob(finding, run), "The line on GitHub")),
      element("p", { class: "quiet" }, `${finding.id} · ${finding.category} · confidence ${words.share(finding.confidence)}`
        + (finding.removed ? " · on a removed line" : ` · ${finding.age}`) + (finding.corrected ? ` · ${finding.corrected}` : "")),
      known && element("p", { class: "quiet known" }, known),
      finding.body && element("p", { class: "prose", dir: "auto" }, finding.body),
      element("p", { class: "label" }, "Evidence"), element("pre", { tabindex: "0" }, finding.evidence),
      (finding.became || []).length > 0 && [element("p", { class: "label" }, "What became of it"),
        element("ul", { class: "plain" }, finding.became.map((fact) => element("li", { dir: "auto" }, fact)))],
      finding.suggestion && [element("p", { class: "label" }, "Suggestion"), element("pre", { tabindex: "0" }, finding.suggestion)]);
})();
