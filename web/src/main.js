// The page: draws itself into an element and talks to one host.
import { ACTIONS } from "./actions.js";
import { traceRow } from "./arithmetic.js";
import { infoOf } from "./capture_info.js";
import { h, patch } from "./dom.js";
import { errands } from "./errands.js";
import { firstState } from "./first_state.js";
import { HEAD_ACTIONS } from "./heads_actions.js";
import { HEAT_CSS } from "./heat_style.js";
import { copyDialog, helpDialog } from "./help.js";
import { httpHost } from "./host_http.js";
import { hostOf, staticHost } from "./host_static.js";
import { widgetHost } from "./host_widget.js";
import { listen } from "./listen.js";
import { livePage, sentenceOf } from "./live_page.js";
import { MAP_ACTIONS, MAP_MOVES } from "./map_actions.js";
import { MAP_CSS } from "./map_style.js";
import { addressBar } from "./place.js";
import { problemOf, unedited } from "./problem.js";
import { createSource, revive } from "./source.js";
import { FIGURES_CSS } from "./style_figures.js";
import { TABLE_ACTIONS } from "./table_actions.js";
import { TABLE_CSS } from "./table_style.js";
import { HEADS_CSS } from "./style_heads.js";
import { DOCUMENT_CSS, PAGE_CSS } from "./style_page.js";
import { mountSurvey } from "./survey_page.js";
import { SURVEY_CSS } from "./survey_style.js";
import { captureIn } from "./url.js";

/** @typedef {import("./types.js").Host} Host */

const STYLES = [PAGE_CSS, FIGURES_CSS, HEAT_CSS, HEADS_CSS, MAP_CSS, TABLE_CSS, SURVEY_CSS];

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
  shadow.adoptedStyleSheets = STYLES.map(sheetOf);
  const page = h("div", { class: "page" });
  shadow.append(page);
  root.dataset.state = "loading";
  host.said?.((waits) => patch(page, [h("p", { class: "alone", role: "status" }, waits)]));
  try {
    const hash = (host.address ?? addressBar).read();
    const asked = [captureOf(host, hash), host.call("lesson")];
    const [capture, { json: lesson }] = await Promise.all(asked);
    if (capture.modes?.includes("survey")) return await mountSurvey(root, shadow, page, host);
    return start(root, shadow, page, host, firstState(capture, lesson, hash));
  } catch (error) {
    patch(page, [h("p", { class: "alone", role: "alert" }, sentenceOf(error))]);
    root.dataset.state = "refused";
    return () => {};
  }
}

/**
 * The capture that the address names, where it stands on the shelf; else the first.
 * @param {Host} host
 * @param {string} hash
 * @returns {Promise<any>}
 */
async function captureOf(host, hash) {
  const { json } = await host.call("info");
  const named = captureIn(hash);
  const there = json.shelf.some((/** @type {{id: string}} */ { id }) => id === named);
  if (!there || named === null || named === json.capture) return json;
  return (await host.call("info", { capture: named })).json;
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
  const { address = addressBar, theme = system, inFile = false, inCell = false } = host;
  const around = { room: root.clientWidth, tall: innerHeight, theme: theme.now(), inFile, inCell };
  const live = livePage(root, shadow, page, source, { ...first, ...around }, address);
  const errand = errands({ ...live, source, dialogs });
  /** @param {string} name @param {string} argument */
  const act = (name, argument) => {
    const heads = name in HEAD_ACTIONS ? live.heads() : null;
    const map = name.startsWith("map-") ? live.map() : null;
    const table = name in TABLE_ACTIONS ? live.table() : null;
    if (inCell && live.state().offline) live.update({ offline: null }); // what is here goes on
    if (name in errand) errand[name](argument);
    else if (map && name in MAP_MOVES) live.life.look(MAP_MOVES[name](map, argument));
    else if (map && name in MAP_ACTIONS)
      live.update({ notice: "", ...MAP_ACTIONS[name](map, argument) });
    else if (table) live.update({ notice: "", ...TABLE_ACTIONS[name](table, argument) });
    else if (heads) live.update({ notice: "", ...HEAD_ACTIONS[name](heads, argument) });
    else live.update({ notice: "", ...ACTIONS[name]?.(live.scene(), argument) });
  };
  const stop = listen(root, shadow, { ...live, act, pass: host.pass });
  const unfollow = address.follow((hash) => {
    errand.follow(hash);
    act("retry", ""); // a new link to a viewer that was started again
  });
  const unsized = followSize(root, live, theme);
  host.said?.((waits) => live.update({ waits }));
  live.update({ focus: live.state().compare ? "pair" : undefined });
  errand.turn("");
  return () => {
    stop();
    unsized();
    unfollow();
    live.life.end();
    shadow.replaceChildren();
    delete root.dataset.state;
  };
}

const DARK = "(prefers-color-scheme: dark)";

/** The colours of the system.  @type {import("./types.js").Scheme} */
const system = {
  now: () => (matchMedia(DARK).matches ? "dark" : "light"),
  follow: (changed) => {
    const scheme = matchMedia(DARK);
    const told = () => changed(system.now());
    scheme.addEventListener("change", told);
    return () => scheme.removeEventListener("change", told);
  },
};

/**
 * Draw anew where the page's width, the window's height or the scheme changes.
 * @param {HTMLElement} root
 * @param {import("./live_page.js").LivePage} live
 * @param {import("./types.js").Scheme} theme
 * @returns {() => void} what stops it
 */
function followSize(root, { state, update }, theme) {
  const observer = new ResizeObserver(() => {
    if (root.clientWidth !== state().room) update({ room: root.clientWidth });
  });
  observer.observe(root);
  const stopping = new AbortController();
  const { signal } = stopping;
  addEventListener("resize", () => update({ tall: innerHeight }), { signal });
  const same = theme.follow((now) => {
    wear(root, now, theme);
    update({ theme: now });
  });
  wear(root, state().theme, theme);
  return () => {
    same();
    observer.disconnect();
    stopping.abort();
  };
}

// The arithmetic stands beside the page, so that it can be compared with the package's own.
export { hostOf, infoOf, problemOf, revive, traceRow, unedited };

/**
 * Colours that are not the system's are worn by the page and by the window's background.
 * @param {HTMLElement} root
 * @param {import("./types.js").State["theme"]} now
 * @param {import("./types.js").Scheme} theme
 */
function wear(root, now, theme) {
  if (theme === system) return;
  root.style.colorScheme = now;
  root.ownerDocument.documentElement.style.colorScheme = now;
}

/** @param {HTMLElement} root */
async function open(root) {
  const inCell = root.getAttribute(OWN) === "cell";
  const host = inCell ? await widgetHost() : (staticHost() ?? httpHost());
  await mount(root, host);
}

const own = document.querySelector(`[${OWN}]`);
if (own instanceof HTMLElement) {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheetOf(DOCUMENT_CSS)];
  void open(own);
  // The right link, opened in the tab that was refused, changes only the fragment.
  addEventListener("hashchange", () => {
    if (own.dataset.state === "refused") location.reload();
  });
}
