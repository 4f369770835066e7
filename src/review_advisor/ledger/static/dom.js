// Making elements. Text is only ever text, and a link leads to a place within this page, or to the run's own on GitHub.
(function () {
  "use strict";
  const ATTRIBUTES = /^(id|type|name|value|min|max|step|list|placeholder|for|scope|role|tabindex|lang|dir|open|selected|inputmode|autocomplete|aria-[a-z]+|datetime|title)$/;

  function element(tag, given = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "class") made.className = value;
      else if (name === "on") Object.entries(value).forEach(([event, heard]) => made.addEventListener(event, heard));
      else if (ATTRIBUTES.test(name)) made.setAttribute(name, value === true ? "" : String(value));
      else throw new TypeError(`no attribute of ours: ${name}`);
    }
    append(made, children);
    return made;
  }

  function append(parent, children) {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false || child === "") continue;
      parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }

  // `steps` are the parts of the place, each of them a text from anywhere; `query` are names and values.
  function place(steps, query = {}) {
    const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
    return `#/${steps.map(encodeURIComponent).join("/")}${asked ? `?${asked}` : ""}`;
  }

  function link(steps, given, ...children) {
    const { query, ...rest } = given;
    const made = element("a", rest, ...children);
    made.setAttribute("href", place(steps, query));
    return made;
  }

  // A place on the run's own GitHub; the text alone where the run names no server, or no repository as GitHub has them.
  function github(run, place, ...children) {
    const fits = /^https:\/\/[\w.:/~-]+$/.test(run.server || "") && /^[\w-]+\/[\w.-]+$/.test(run.repository || "")
      && /^[\w./%~#-]+$/.test(place);
    if (!fits) return children;
    const made = element("a", {}, ...children);
    made.setAttribute("href", `${run.server}/${run.repository}/${place}`);
    made.setAttribute("rel", "noopener noreferrer");
    return made;
  }

  function put(parent, ...children) {
    parent.replaceChildren();
    append(parent, children);
  }

  function table(caption, heads, rows) {
    return element("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": caption },
      element("table", {},
        element("caption", { class: "unseen" }, caption),
        element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
        element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, column) =>
          column === 0 ? element("th", { scope: "row" }, cell) : element("td", {}, cell)))))));
  }

  // Said to a screen reader once the page has changed.
  function say(text) {
    document.getElementById("said").textContent = text;
  }

  window.dashboard = { element, link, github, place, put, table, say };
})();
