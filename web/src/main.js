// The page: draws itself into an element and talks to one host.
import { ACTIONS } from "./actions.js";
import { traceRow } from "./arithmetic.js";
import { h, patch } from "./dom.js";
import { errands } from "./errands.js";
import { firstState } from "./first_state.js";
import { titleOf } from "./header.js";
import { copyDialog, helpDialog } from "./help.js";
import { httpHost } from "./host_http.js";
import { listen } from "./listen.js";
import { livePage, sentenceOf } from "./live_page.js";
import { followHash, readHash } from "./place.js";
import { problemOf, unedited } from "./problem.js";
import { createSource, revive } from "./source.js";
import { FIGURES_CSS } from "./style_figures.js";
import { DOCUMENT_CSS, PAGE_CSS } from "./style_page.js";
import { fromHash } from "./url.js";

/** @typedef {import("./types.js").Host} Host */

// Only pages of ours carry an element with this attribute.
const OWN = "data-softlookup";

/** @param {string} css */
function sheetOf(css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

/**
 * Draw the viewer into `root` and keep it alive.
 * @param {HTMLElement} root
 * @param {Host} host
 * @returns {Promise<() => void>} what takes it away again
 */
export async function mount(root, host) {
  const shadow = root.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheetOf(PAGE_CSS), sheetOf(FIGURES_CSS)];
  const page = h("div", { class: "page" });
  shadow.append(page);
  root.dataset.state = "loading";
  try {
    const [{ json: info }, { json: lesson }] = await Promise.all([
      host.call("info"),
      host.call("lesson"),
    ]);
    if (root.hasAttribute(OWN)) document.title = `${titleOf(info)} - softlookup`;
    return start(root, shadow, page, host, firstState(info, lesson, readHash()));
  } catch (error) {
    patch(page, [h("p", { class: "alone", role: "alert" }, sentenceOf(error))]);
    root.dataset.state = "refused";
    return () => {};
  }
}

/**
 * @param {HTMLElement} root
 * @param {ShadowRoot} shadow
 * @param {HTMLElement} page
 * @param {Host} host
 * @param {import("./types.js").State} first
 */
function start(root, shadow, page, host, first) {
  const source = createSource(host, first.info.limits.ledger_keys);
  const dialogs = { help: helpDialog(), copy: copyDialog() };
  shadow.append(dialogs.help, dialogs.copy);
  const live = livePage(root, shadow, page, source, first);
  const errand = errands({ ...live, source, dialogs });
  /** @param {string} name @param {string} argument */
  const act = (name, argument) => {
    if (name in errand) errand[name](argument);
    else live.update({ notice: "", ...ACTIONS[name]?.(live.scene(), argument) });
  };
  const stop = listen(root, shadow, { act, update: live.update, state: live.state });
  const unfollow = followHash((hash) => {
    live.update(fromHash(hash, first.info));
    act("retry", ""); // a new link to a viewer that was started again
  });
  live.update({});
  errand.turn("");
  return () => {
    stop();
    unfollow();
    shadow.replaceChildren();
    delete root.dataset.state;
  };
}

// The arithmetic stands beside the page, so that it can be compared with the package's own.
export { problemOf, revive, traceRow, unedited };

const own = document.querySelector(`[${OWN}]`);
if (own instanceof HTMLElement) {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheetOf(DOCUMENT_CSS)];
  void mount(own, httpHost());
  // The right link, opened in the tab that was refused, changes only the fragment.
  addEventListener("hashchange", () => {
    if (own.dataset.state === "refused") location.reload();
  });
}
