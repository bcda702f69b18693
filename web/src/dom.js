// The only place that builds elements. Text becomes text nodes; there is no way to pass markup.

/** @typedef {Node | string | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | Record<string, string>>} Props */

/**
 * Build an element. `vars` sets custom properties (a style attribute would break the page's
 * policy); true and false set and leave out an attribute.
 * @param {string} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "vars") {
      for (const [key, text] of Object.entries(
        /** @type {Record<string, string>} */ (value ?? {}),
      )) {
        element.style.setProperty(key, text);
      }
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/**
 * Make `parent` hold `wanted`, keeping the elements that are there already: focus, typed text,
 * scroll positions and what a person has opened stay. What has a data-key is found wherever it
 * stood.
 * @param {Node} parent
 * @param {Node[]} wanted
 */
export function patch(parent, wanted) {
  /** @type {Map<string, Node> | null} */
  let elsewhere = null; // needed only where something moved
  wanted.forEach((node, i) => {
    let old = parent.childNodes[i];
    if (old && !alike(old, node)) {
      elsewhere ??= keyedFrom(parent, i);
      const moved = elsewhere.get(keyOf(node));
      if (moved && alike(moved, node)) {
        parent.insertBefore(moved, old);
        old = /** @type {ChildNode} */ (moved);
      }
    }
    elsewhere?.delete(keyOf(node)); // it has its place
    if (!old) parent.appendChild(node);
    else if (!alike(old, node)) parent.replaceChild(node, old);
    else if (old instanceof Element && node instanceof Element) patchElement(old, node);
    else if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild?.remove();
}

/** @param {Node} node */
const keyOf = (node) => (node instanceof Element && node.getAttribute("data-key")) || "";

/** The children of `parent` from one on that have a data-key, by it.
 * @param {Node} parent @param {number} from */
function keyedFrom(parent, from) {
  const found = [...parent.childNodes].slice(from).filter((node) => keyOf(node) !== "");
  return new Map(found.map((node) => [keyOf(node), /** @type {Node} */ (node)]));
}

/** @param {Node} a @param {Node} b */
function alike(a, b) {
  if (a.nodeName !== b.nodeName) return false;
  if (!(a instanceof Element && b instanceof Element)) return true;
  return a.getAttribute("data-key") === b.getAttribute("data-key");
}

const STYLED = new Set(["style"]); // patched by property
const PAINTED = new Set(["style", "width", "height"]); // belong to whoever paints the canvas

/** @param {Element} old @param {Element} node */
function patchElement(old, node) {
  const as = node.getAttribute("data-as"); // all that the element is drawn from, where that is told
  if (as !== null && as === old.getAttribute("data-as")) return;
  const own = old instanceof HTMLCanvasElement ? PAINTED : STYLED;
  const typed = old.getAttribute("value") !== node.getAttribute("value");
  for (const { name } of [...old.attributes]) {
    if (!own.has(name) && name !== "open" && !node.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...node.attributes]) {
    if (!own.has(name) && name !== "open" && old.getAttribute(name) !== value)
      old.setAttribute(name, value);
  }
  if (old instanceof HTMLElement && node instanceof HTMLElement && own !== PAINTED)
    patchVars(old.style, node.style);
  patch(old, [...node.childNodes]);
  if (old instanceof HTMLInputElement) {
    if (typed) old.value = node.getAttribute("value") ?? "";
    old.checked = node.hasAttribute("checked");
  }
  if (old instanceof HTMLOptionElement) old.selected = node.hasAttribute("selected");
}

/** @param {CSSStyleDeclaration} old @param {CSSStyleDeclaration} wanted */
function patchVars(old, wanted) {
  for (const name of [...old]) if (wanted.getPropertyValue(name) === "") old.removeProperty(name);
  for (const name of [...wanted]) {
    const value = wanted.getPropertyValue(name);
    if (old.getPropertyValue(name) !== value) old.setProperty(name, value);
  }
}
