// The timeline of a run: one entry an event, each with an address of its own.
(function () {
  "use strict";
  const { element, link, words } = dashboard;
  const LONG = 700; // characters, from which on a text is folded
  const AT_ONCE = 200;

  // Its parts, and `reach`, which shows the entries up to the one of a number.
  dashboard.timeline = (page) => {
    const list = element("ol", { class: "timeline" });
    const rest = page.entries.slice();
    const more = element("button", { type: "button", on: { click: () => add(AT_ONCE) } });
    const add = (many) => {
      list.append(...rest.splice(0, many).map((entry) => item(entry, page)));
      more.hidden = !rest.length;
      more.textContent = `Show more (${words.count(rest.length, "event")} left)`;
    };
    add(AT_ONCE);
    const reach = (number) => add(rest.findIndex((entry) => entry.number === number) + 1);
    return { parts: [list, more], reach };
  };

  function item(entry, { run, entries }) {
    const id = `e${entry.number}`;
    const place = [entry.surface && words.plain(entry.surface), entry.turn ? `turn ${entry.turn}` : "", entry.shard ? `part ${entry.shard + 1}` : "",
      entry.attempt ? `attempt ${entry.attempt + 1}` : ""].filter(Boolean).join(" · ");
    const heading = element("h3", { id: `${id}-title` }, entry.title);
    return element("li", { class: `entry ${entry.tone || ""} ${entry.role || ""}`, id, tabindex: "-1", "aria-labelledby": `${id}-title` },
      element("div", { class: "head" }, heading, place && element("span", { class: "quiet" }, place),
        link(["run", run.run_id, id], { class: "anchor" }, element("span", { class: "unseen" }, `Link to ${entry.title}, `),
          `${elapsed(entries[0].at, entry.at)} · #${entry.number}`)),
      entry.call && call(entry.call),
      entry.facts && element("dl", { class: "facts" }, entry.facts.map(([label, value]) =>
        element("div", {}, element("dt", {}, label), element("dd", { dir: "auto" }, value)))),
      (entry.blocks || []).map(([label, block]) =>
        Array.isArray(block) ? listed(label, block) : prose(label, block)),
      entry.findings && entry.findings.map((finding) => dashboard.finding(finding)),
      entry.patch && element("details", {}, element("summary", {}, "Patch"), dashboard.patch(entry.patch, "Patch")),
      entry.change && dashboard.change(entry.change, run.run_id, entry.kind === "verified" ? "veto" : "consult"),
      (entry.folded || []).map(([label, text]) => folded(label, text, element("pre", { class: "wrapped", tabindex: "0" }, text))));
  }

  function elapsed(first, now) {
    return `+${words.seconds(Math.max(Date.parse(now) - Date.parse(first), 0) / 1000)}`;
  }

  function prose(label, text) {
    const body = element("p", { class: "prose", dir: "auto" }, text);
    if (text.length > LONG) return folded(label, text, body);
    return element("div", { class: "text" }, label && element("p", { class: "label" }, label), body);
  }

  function folded(label, text, body) {
    return element("details", {}, element("summary", {}, `${label || "Text"} (${words.count(text.length, "character")})`), body);
  }

  function listed(label, lines) {
    const list = element("ul", { class: "plain" }, lines.map((line) => element("li", { dir: "auto" }, line)));
    if (lines.length > 8) return element("details", {}, element("summary", {}, `${label} (${lines.length})`), list);
    return element("div", { class: "text" }, element("p", { class: "label" }, label), list);
  }

  function call(about) {
    const told = [about.model, about.turns ? words.count(about.turns, "turn") : "",
      words.seconds(about.seconds), words.money(about.cost_usd), `${words.number(about.input_tokens)} in`,
      about.cache_read_tokens ? `${words.number(about.cache_read_tokens)} read from the cache` : "",
      about.cache_write_tokens ? `${words.number(about.cache_write_tokens)} written to the cache` : "", `${words.number(about.output_tokens)} out`];
    return element("p", { class: "call" }, told.filter(Boolean).map((each) => element("span", {}, each)));
  }
})();
