// Stands in the notebook's own page, as small as can be: it puts the page into a frame inside the
// cell, and carries messages between the frame and the kernel. Nothing of the notebook is read but
// its colours; nothing is written outside of the cell.
import { h } from "./dom.js";
import { isForNotebook } from "./keys.js";

const SANDBOX = "allow-scripts allow-downloads allow-forms"; // as framed.py has it

/**
 * @typedef {object} Model  a widget's state, as anywidget hands it over
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(kind: string, heard: (...given: any[]) => void) => void} on
 * @property {(kind: string, heard: (...given: any[]) => void) => void} off
 * @property {(content: any) => void} send
 */

/**
 * @param {{model: Model, el: HTMLElement}} cell
 * @returns {() => void} what takes it away again
 */
function render({ model, el }) {
  const allowed = { sandbox: SANDBOX, allow: "clipboard-write *" };
  const frame = /** @type {HTMLIFrameElement} */ (
    h("iframe", { title: model.get("title"), ...allowed })
  );
  const box = h("div", {}, frame);
  style(box, frame);
  const size = () => {
    box.style.height = `${model.get("height")}px`;
  };
  size();
  model.on("change:height", size);
  const wire = wireOf(model, el, frame);
  addEventListener("message", wire.ready);
  frame.srcdoc = model.get("_page");
  el.append(box);
  return () => {
    model.off("change:height", size);
    removeEventListener("message", wire.ready);
    wire.cut();
    box.remove();
  };
}

/** @param {HTMLElement} box @param {HTMLElement} frame */
function style(box, frame) {
  Object.assign(box.style, {
    ...{ display: "flex", width: "100%", minHeight: "200px" },
    ...{ boxSizing: "border-box", overflow: "hidden", resize: "vertical", paddingBottom: "12px" },
  });
  Object.assign(frame.style, {
    ...{ flex: "1 1 auto", width: "100%", height: "100%", margin: "0", border: "0" },
    ...{ borderRadius: "6px", colorScheme: "auto" },
  });
}

/**
 * The way between a frame and the kernel.
 * @param {Model} model
 * @param {HTMLElement} el
 * @param {HTMLIFrameElement} frame
 */
function wireOf(model, el, frame) {
  /** @type {MessagePort | null} */
  let port = null;
  const heard = (/** @type {any} */ content, /** @type {DataView[] | undefined} */ buffers) => {
    const bytes = buffers?.length ? copied(buffers[0]) : null;
    port?.postMessage({ ...content, bytes }, bytes ? [bytes] : []);
  };
  const lost = () => {
    if (!isLive(el)) port?.postMessage({ gone: true });
  };
  const colours = watchTheme(el, (theme) => port?.postMessage({ theme }));
  const cut = () => {
    port?.close();
    port = null;
    colours.stop();
    for (const [kind, hear] of hears) model.off(kind, hear);
  };
  /** @type {[string, (...given: any[]) => void][]} */
  const hears = [
    ["msg:custom", heard],
    ["comm_live_update", () => setTimeout(lost)], // once it is marked
    ["comm:close", () => port?.postMessage({ gone: true })],
  ];
  for (const [kind, hear] of hears) model.on(kind, hear);
  const ready = (/** @type {MessageEvent} */ event) => {
    if (event.source !== frame.contentWindow || event.data?.softlookup !== "ready") return;
    port?.close();
    const ends = new MessageChannel();
    port = ends.port1;
    port.onmessage = ({ data }) => carry(data, model, frame, port);
    const first = { place: model.get("place"), theme: colours.now(), live: isLive(el) };
    frame.contentWindow?.postMessage({ softlookup: "port", ...first }, "*", [ends.port2]);
  };
  return { ready, cut };
}

/** Is there a kernel behind it? Jupyter marks what has lost its own.  @param {HTMLElement} el */
const isLive = (el) => el.closest(".jupyter-widgets-disconnected") === null;

/** @param {DataView} view @returns {ArrayBuffer} */
function copied(view) {
  const { buffer, byteOffset, byteLength } = view;
  return /** @type {ArrayBuffer} */ (buffer).slice(byteOffset, byteOffset + byteLength);
}

/**
 * What the page says, to whom it is meant for. The notebook hears no other key from it than those
 * that save and run.
 * @param {any} data
 * @param {Model} model
 * @param {HTMLElement} frame
 * @param {MessagePort | null} port
 */
function carry(data, model, frame, port) {
  if (typeof data.place === "string") {
    model.set("place", data.place);
    model.save_changes();
  } else if (data.key) {
    if (!isForNotebook(data.key)) return;
    const pressed = { ...data.key, bubbles: true, cancelable: true, composed: true };
    frame.dispatchEvent(new KeyboardEvent("keydown", pressed));
  } else {
    try {
      model.send(data);
    } catch {
      port?.postMessage({ gone: true });
    }
  }
}

/**
 * Is the notebook light or dark? Told by what stands behind the cell, else by its letters; themes
 * change by attributes of the whole page.
 * @param {HTMLElement} el
 * @param {(theme: "light" | "dark") => void} changed
 */
function watchTheme(el, changed) {
  let known = themeOf(el);
  const look = () => {
    const theme = themeOf(el);
    if (theme !== known) changed((known = theme));
  };
  let frame = 0;
  const soon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => requestAnimationFrame(look)); // once the styles have changed
  };
  const observer = new MutationObserver(soon);
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributes: true });
  observer.observe(document.head, { childList: true, subtree: true, characterData: true });
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", soon);
  return {
    now: () => (known = themeOf(el)),
    stop: () => {
      observer.disconnect();
      scheme.removeEventListener("change", soon);
      cancelAnimationFrame(frame);
    },
  };
}

const HALF = 0.5; // of the way from black to white
const SEEN = 0.5; // a colour that hides what is behind it

/** @param {HTMLElement} el @returns {"light" | "dark"} */
function themeOf(el) {
  for (let node = /** @type {Node | null} */ (el); node; node = above(node)) {
    if (!(node instanceof Element)) continue;
    const [light, alpha] = lightness(getComputedStyle(node).backgroundColor);
    if (alpha > SEEN) return light > HALF ? "light" : "dark";
  }
  return lightness(getComputedStyle(el).color)[0] > HALF ? "dark" : "light";
}

/** @param {Node} node @returns {Node | null} */
const above = (node) =>
  node instanceof Element && node.assignedSlot
    ? node.assignedSlot
    : (node.parentNode ?? (node instanceof ShadowRoot ? node.host : null));

/** How light a CSS colour is, 0 ... 1, and how much of it is seen.  @param {string} color */
function lightness(color) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { width: 1, height: 1 }));
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) return [1, 0];
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
  return [(0.299 * r + 0.587 * g + 0.114 * b) / 255, a / 255];
}

export default { render };
