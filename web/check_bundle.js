// Fails where the committed bundle is not what the modules build to.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const bundle = fileURLToPath(new URL("../src/softlookup/viewer/static/app.js", import.meta.url));
const committed = readFileSync(bundle, "utf8");
execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] });
if (readFileSync(bundle, "utf8") !== committed) {
  console.error(
    "app.js: must be the bundle of web/src; it was not, and has been rebuilt. Commit it.",
  );
  process.exit(1);
}
console.log("app.js is the bundle of web/src");
