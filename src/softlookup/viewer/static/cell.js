// Built from web/src by esbuild (npm run build). Edit the modules there, not this file.

// src/dom.js
function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "vars") {
      for (const [key, text] of Object.entries(
        /** @type {Record<string, string>} */
        value ?? {}
      )) {
        element.style.setProperty(key, text);
      }
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== void 0)
      element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== void 0 && child !== false) element.append(child);
  }
  return element;
}

// src/keys.js
var isForNotebook = ({ key, ctrlKey, metaKey, altKey }) => key.toLowerCase() === "s" && (ctrlKey || metaKey) && !altKey || key === "Enter" && (ctrlKey || metaKey || altKey);

// src/cell.js
var SANDBOX = "allow-scripts allow-downloads allow-forms";
function render({ model, el }) {
  const allowed = { sandbox: SANDBOX, allow: "clipboard-write *" };
  const frame = (
    /** @type {HTMLIFrameElement} */
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
function style(box, frame) {
  Object.assign(box.style, {
    ...{ display: "flex", width: "100%", minHeight: "200px" },
    ...{ boxSizing: "border-box", overflow: "hidden", resize: "vertical", paddingBottom: "12px" }
  });
  Object.assign(frame.style, {
    ...{ flex: "1 1 auto", width: "100%", height: "100%", margin: "0", border: "0" },
    ...{ borderRadius: "6px", colorScheme: "auto" }
  });
}
function wireOf(model, el, frame) {
  let port = null;
  const heard = (content, buffers) => {
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
  const hears = [
    ["msg:custom", heard],
    ["comm_live_update", () => setTimeout(lost)],
    // once it is marked
    ["comm:close", () => port?.postMessage({ gone: true })]
  ];
  for (const [kind, hear] of hears) model.on(kind, hear);
  const ready = (event) => {
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
var isLive = (el) => el.closest(".jupyter-widgets-disconnected") === null;
function copied(view) {
  const { buffer, byteOffset, byteLength } = view;
  return (
    /** @type {ArrayBuffer} */
    buffer.slice(byteOffset, byteOffset + byteLength)
  );
}
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
function watchTheme(el, changed) {
  let known = themeOf(el);
  const look = () => {
    const theme = themeOf(el);
    if (theme !== known) changed(known = theme);
  };
  let frame = 0;
  const soon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => requestAnimationFrame(look));
  };
  const observer = new MutationObserver(soon);
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributes: true });
  observer.observe(document.head, { childList: true, subtree: true, characterData: true });
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", soon);
  return {
    now: () => known = themeOf(el),
    stop: () => {
      observer.disconnect();
      scheme.removeEventListener("change", soon);
      cancelAnimationFrame(frame);
    }
  };
}
var HALF = 0.5;
var SEEN = 0.5;
function themeOf(el) {
  for (let node = (
    /** @type {Node | null} */
    el
  ); node; node = above(node)) {
    if (!(node instanceof Element)) continue;
    const [light, alpha] = lightness(getComputedStyle(node).backgroundColor);
    if (alpha > SEEN) return light > HALF ? "light" : "dark";
  }
  return lightness(getComputedStyle(el).color)[0] > HALF ? "dark" : "light";
}
var above = (node) => node instanceof Element && node.assignedSlot ? node.assignedSlot : node.parentNode ?? (node instanceof ShadowRoot ? node.host : null);
function lightness(color) {
  const canvas = (
    /** @type {HTMLCanvasElement} */
    h("canvas", { width: 1, height: 1 })
  );
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) return [1, 0];
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
  return [(0.299 * r + 0.587 * g + 0.114 * b) / 255, a / 255];
}
var cell_default = { render };
export {
  cell_default as default
};
