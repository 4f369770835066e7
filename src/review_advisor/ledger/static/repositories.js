// The table of repositories. Each leads to its runs.
(function () {
  "use strict";
  const { element, link, table, words } = dashboard;

  dashboard.repositoryTable = ({ repositories: { rows, kpis, further } }) => rows.length > 0 && element("section", {},
    element("h2", {}, "By repository"),
    table("By repository", ["Repository", "Runs", "Cost", ...kpis.map(words.kpi)], rows.map(({ name, cells }) => [
      link(["runs"], { query: { repository: name } }, name), ...cells,
    ])),
    further > 0 && element("p", { class: "quiet" }, `${words.number(further)} more: \`review-advisor rollup --by-repository\` shows all.`));
})();
