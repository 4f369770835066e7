// Light or dark: what the system says, unless the reader chose. Loaded first, so that no page flashes.
(function () {
  "use strict";
  const KEY = "review-advisor-theme";
  const CHOICES = ["system", "light", "dark"];
  const root = document.documentElement;

  function kept() {
    try {
      const choice = localStorage.getItem(KEY);
      return CHOICES.includes(choice) ? choice : "system";
    } catch {
      return "system"; // a browser may keep nothing for files
    }
  }

  function choose(choice) {
    root.dataset.theme = choice;
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // then it holds until the page is closed
    }
    document.dispatchEvent(new Event("theme"));
  }

  root.dataset.theme = kept();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("theme")));
  document.addEventListener("DOMContentLoaded", () => {
    const select = document.getElementById("theme");
    select.value = root.dataset.theme;
    select.addEventListener("change", () => choose(select.value));
  });
})();
