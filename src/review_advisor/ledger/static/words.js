// Numbers, moments and names of ours as words.
(function () {
  "use strict";
  const STATUSES = {
    approved: "Approved",
    changes_requested: "Changes requested",
    escalated: "Escalated",
    stopped: "Stopped",
    nothing_to_review: "Nothing to review",
    unfinished: "Unfinished",
  };
  const ROLES = { pre_flight: "Pre-flight", executor: "Executor", mid_flight: "Mid-flight", post_verify: "Post-verify", retro: "Retro" };
  const KPIS = {
    self_repair: "Self-repair",
    validated: "Objections proved right",
    wall_clock: "Wall clock",
    consult_share: "Consult share",
    assurance_share: "Assurance share",
    executor_turns: "Executor turns per call",
    cached_share: "Input from the cache",
    consult_rate: "Consult rate",
    degraded_share: "Degraded reviews",
    missed_escalations: "Missed escalations",
    conflicts: "Conflicts",
    overrides: "Overrides",
    comments: "Comments per review",
    acted_on: "Comments acted on",
    dismissed: "Comments dismissed",
    thumbs_up: "Thumbs up",
  };
  const FLAGS = { degraded: "degraded", disabled: "advisor off", recovered: "recovered", exhausted: "retries exhausted" };
  const whole = new Intl.NumberFormat("en");

  const named = (names) => (key) => (Object.hasOwn(names, key) ? names[key] : String(key).replaceAll("_", " "));
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const number = (value) => whole.format(value);
  const share = (value) => `${(100 * value).toFixed(1)}%`;

  // `unpriced`: how many calls or consults of a sum did not report their cost.
  function money(usd, unpriced = 0, what = "call") {
    if (usd === null || usd === undefined) return "unknown";
    const told = usd === 0 ? "$0" : `$${usd >= 100 ? number(Math.round(usd)) : usd.toFixed(usd >= 1 ? 2 : 4)}`;
    return unpriced ? `${told}, and ${count(unpriced, what)} unknown` : told;
  }

  function seconds(value) {
    if (value === null || value === undefined) return "–";
    if (value < 60) return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
    const minutes = Math.floor(Math.round(value) / 60);
    if (minutes < 60) return `${minutes} min ${Math.round(value) % 60} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  // Short words for the axes of plots.
  const ticks = {
    money: (usd) => `$${Number(usd.toPrecision(4))}`,
    clock: (value) => (value < 60 ? `${Math.round(value)} s` : `${Math.floor(value / 60)}:${String(Math.round(value % 60)).padStart(2, "0")} min`),
    day: new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" }),
    month: new Intl.DateTimeFormat("en", { month: "short", year: "numeric", timeZone: "UTC" }),
  };

  const day = (iso) => iso.slice(0, 10);
  const moment = (iso) => `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
  const count = (many, what) => `${number(many)} ${what}${many === 1 ? "" : "s"}`;

  dashboard.words = {
    STATUSES, ROLES, FLAGS, ticks, number, share, money, seconds, day, moment, count,
    status: (key) => capital(named(STATUSES)(key)), role: named(ROLES), kpi: named(KPIS), flag: named(FLAGS), plain: named({}),
  };

  // `like` is the status of a review that has the same colour: a task's own are others.
  dashboard.badge = (status, like = status) =>
    dashboard.element("span", { class: `badge ${Object.hasOwn(STATUSES, like) ? like : ""}` }, dashboard.words.status(status));
})();
