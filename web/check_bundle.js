// Fails where a committed bundle is not what the modules build to.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NAMES = ["app.js", "cell.js"];
const bundles = NAMES.map((name) =>
  fileURLToPath(new URL(`../src/softlookup/viewer/static/${name}`, import.meta.url)),
);
const committed = bundles.map((file) => readFileSync(file, "utf8"));
execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] });
const stale = NAMES.filter((_, i) => readFileSync(bundles[i], "utf8") !== committed[i]);
if (stale.length) {
  console.error(
    `${stale.join(", ")}: must be the bundle of web/src; it was not, and has been rebuilt. Commit it.`,
  );
  process.exit(1);
}
console.log(`${NAMES.join(", ")}: the bundles of web/src`);
