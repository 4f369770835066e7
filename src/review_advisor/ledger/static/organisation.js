// Tables of repositories, teams and author groups. A repository leads to its runs, a team to its repositories.
(function () {
  "use strict";
  const { element, link, table, words } = dashboard;
  const TITLES = { repository: "By repository", team: "By team", "author-group": "By author group" };
  const HEADS = { repository: "Repository", team: "Team", "author-group": "Author group" };

  dashboard.groupTables = ({ groups }, { team }) => groups.map((group) => {
    const chosen = group.by === "repository" && team ? group.rows.filter((row) => row.team === team) : group.rows;
    const title = chosen === group.rows ? TITLES[group.by] : `${TITLES[group.by]}: ${team}`;
    const heads = [HEADS[group.by], "Runs", "Cost", ...group.kpis.map(words.kpi)];
    return element("section", {}, element("h2", {}, title),
      chosen !== group.rows && element("p", {}, link(["overview"], {}, "All repositories")),
      table(title, heads, chosen.map(({ name, cells }) => [named(group.by, name), ...cells])),
      group.further > 0 && element("p", { class: "quiet" }, `${words.number(group.further)} more: \`review-advisor rollup --by ${group.by}\` shows all.`),
      group.least > 0 && element("p", { class: "quiet" }, `Nothing is told of fewer than ${group.least} authors in this time.`));
  });

  function named(by, name) {
    if (by === "repository") return link(["runs"], { query: { repository: name } }, name);
    return by === "team" ? link(["overview"], { query: { team: name } }, name) : name;
  }
})();
