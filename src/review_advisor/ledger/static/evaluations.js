// Golden cases reviewed by several arms: the measures of each with their intervals, and the gates.
(function () {
  "use strict";
  const { element, put, table, words } = dashboard;

  dashboard.showEvaluations = (main, { evaluations }) => {
    put(main, element("h1", { tabindex: "-1" }, "Evaluations"),
      evaluations.length ? evaluations.map(evaluation)
        : element("p", { class: "empty" }, "There is no whole evaluation. `review-advisor eval run` makes one."));
  };

  function evaluation({ id, set, answers, cases, groups, samples, rows, besides, gates }) {
    const [heads, ...lines] = rows;
    return element("section", {},
      element("h2", {}, `${set} (${id})`),
      element("p", { class: "notice" }, `Answers: ${answers}`),
      element("p", { class: "quiet" }, `${words.count(cases, "case")} in ${words.count(groups, "group")}. Brackets: the middle 95% of `
        + `${samples} samples of whole groups, the same for all arms.`),
      table(`Measures of ${id}`, ["Measure", ...heads.slice(1)], lines),
      besides.length > 0 && element("ul", {}, besides.map((each) => element("li", {}, each))),
      gates.map(gate));
  }

  function gate({ answer, what, conditions, advice }) {
    return element("div", {}, element("h3", {}, `${answer}: ${what}`),
      element("ul", {}, conditions.map((each) => element("li", {}, each))), advice && element("p", {}, advice));
  }
})();
