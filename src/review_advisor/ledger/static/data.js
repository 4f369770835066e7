// The data come as scripts, each when it is needed: a page opened from a folder may fetch nothing.
(function () {
  "use strict";
  const NAME = /^(overview|(lists|runs)\/[0-9a-f]{32})$/;
  const received = new Map();
  const asked = new Map();
  const ours = (address) => {
    if (!/^data\/[a-z0-9/-]+\.js$/.test(address)) throw new TypeError("no data of ours");
    return address;
  };
  const policy = window.trustedTypes ? trustedTypes.createPolicy("dashboard", { createScriptURL: ours }) : { createScriptURL: ours };

  // Each file of data calls this once.
  dashboard.receive = (name, value) => received.set(name, value);

  dashboard.load = (name) => {
    if (!NAME.test(name)) return Promise.reject(new Error("There is no such data."));
    if (!asked.has(name)) asked.set(name, begin(name));
    return asked.get(name);
  };

  function begin(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const fail = () => {
        asked.delete(name);
        reject(new Error(`The file data/${name}.js is missing, or cannot be read. If the dashboard was written anew, load this page again.`));
      };
      script.src = policy.createScriptURL(`data/${name}.js`);
      script.onload = () => (received.has(name) ? resolve(received.get(name)) : fail());
      script.onerror = fail;
      document.head.append(script);
    });
  }
})();
