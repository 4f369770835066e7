// Which runs are wanted: the questions of `runs list`, asked of the columns of the list.
(function () {
  "use strict";
  const RANGE = /^(\d+(?:\.\d+)?)?(\.\.)?(\d+(?:\.\d+)?)?$/;
  const NAMES = ["text", "status", "surface", "role", "model", "backend", "error", "repository", "pr", "cost", "consults", "since", "until"];

  // What `N`, `A..B`, `A..` and `..B` say; null for anything else.
  function between(text) {
    const found = RANGE.exec(text.trim());
    if (!found || (found[1] === undefined && found[3] === undefined)) return null;
    const low = found[1] === undefined ? -Infinity : Number(found[1]);
    return [low, found[2] ? (found[3] === undefined ? Infinity : Number(found[3])) : low];
  }

  // The filter that the words of the form ask for: (chunk, row) => yes or no. Also what of them means nothing.
  function wanted(asked) {
    const wrong = [];
    const tests = [];
    const is = (column, value, same = (one, other) => one === other) =>
      value && tests.push((chunk, row) => same(chunk.columns[column][row], value));
    const within = (column, name) => {
      if (!asked[name]) return;
      const range = between(asked[name]);
      if (!range) wrong.push(name);
      else tests.push(({ columns }, row) => columns[column][row] !== null && columns[column][row] >= range[0] && columns[column][row] <= range[1]);
    };
    is("status", asked.status);
    is("repository", asked.repository, (one, other) => one !== null && lower(one) === lower(other));
    is("pull_request", asked.pr && Number(asked.pr));
    is("title", asked.text && lower(asked.text), (title, text) => lower(title).includes(text));
    is("started_at", asked.since, (began, since) => began >= since);
    is("started_at", asked.until, (began, until) => began < until);
    within("cost_usd", "cost");
    within("consults", "consults");
    const cast = casting(asked);
    if (cast) tests.push((chunk, row) => cast(chunk)[chunk.columns.casting[row]]);
    return { wrong, holds: (chunk, row) => tests.every((test) => test(chunk, row)) };
  }

  // Only ASCII letters have no case, as in the ledger.
  function lower(text) {
    return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }

  // Surface, role, model, backend and error are held against one call at a time: answered once for each casting of a chunk.
  function casting({ surface, role, model, backend, error }) {
    if (!surface && !role && !model && !backend && !error) return null;
    const answers = new Map();
    const reason = error && error !== "any" && error !== "none";
    const one = ([itsSurface, itsRole, itsModel, itsError]) =>
      (!surface || itsSurface === surface) && (!role || itsRole === role) && (!model || itsModel === model)
      && (!backend || (itsSurface === "task" && itsModel === backend)) && (error !== "any" || itsError !== "") && (!reason || itsError === error);
    const asksOne = surface || role || model || backend || error !== "none";
    const all = (parts) => (!asksOne || parts.some(one)) && (error !== "none" || parts.every((part) => part[3] === ""));
    return (chunk) => {
      if (!answers.has(chunk)) answers.set(chunk, chunk.castings.map(all));
      return answers.get(chunk);
    };
  }

  dashboard.filters = { NAMES, between, wanted };
})();
