// Wheel, drag, pinch and clicks on the map, on its axes and on the minimap.
import { axisOf, tokenAt } from "./map_axes.js";
import { pairUnder, panned, zoomedAt } from "./map_camera.js";
import { miniBox } from "./map_painter.js";

/** @typedef {import("./listen.js").Hands} Hands */
/** @typedef {[number, number]} Point */

/**
 * @typedef {object} Drag
 * @property {number} moved  the pixels so far
 * @property {boolean} mini  on the minimap
 * @property {(import("./types.js").Pair | null)[]} locks  what was held before each of the last two clicks
 */

const SPEED = 0.0025; // zoom levels a pixel of the wheel
const PINCH = 0.012; // where the wheel stands for two fingers
const LINE = 16; // pixels of a wheel that counts in lines
const MOST = 1; // zoom levels of one event
const STILL = 4; // pixels that a click may move

/** @param {Event} event @param {string} selector */
function under(event, selector) {
  const [target] = event.composedPath();
  return target instanceof Element ? target.closest(selector) : null;
}

/** @param {MouseEvent} event @param {Element} box @returns {Point} */
function pointIn(event, box) {
  const { left, top } = box.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

/**
 * Everything is heard at the host: a wheel that only a shadow root waits for never leaves
 * Chromium's compositor.
 * @param {HTMLElement} root
 * @param {Hands} hands
 * @param {AbortSignal} signal
 */
export function listenToMap(root, hands, signal) {
  /** @type {Map<number, Point>} */
  const fingers = new Map();
  /** @type {Drag} */
  const drag = { moved: 0, mini: false, locks: [null, null] };
  /** @type {[string, (event: any) => void][]} */
  const heard = [
    ["wheel", (event) => wheeled(event, hands)],
    ["pointerdown", (event) => pressed(event, hands, fingers, drag)],
    ["pointermove", (event) => moved(event, hands, fingers, drag)],
    ["pointerup", (event) => lifted(event, hands, fingers, drag)],
    ["pointercancel", (event) => fingers.delete(event.pointerId)],
    ["dblclick", (event) => doubled(event, hands, drag)],
    ["click", (event) => named(event, hands)],
    ["pointerleave", () => left(hands)],
  ];
  for (const [kind, listener] of heard)
    root.addEventListener(kind, listener, { signal, passive: false });
}

/** @param {WheelEvent} event @param {Hands} hands */
function wheeled(event, { map, life }) {
  const box = under(event, ".map-cells");
  const scene = box && map();
  if (!box || !scene) return;
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === 1 ? LINE : 1);
  const by = Math.max(-MOST, Math.min(MOST, pixels * (event.ctrlKey ? PINCH : SPEED)));
  const point = pointIn(event, box);
  const moved = zoomedAt(scene.camera, by, point, scene.size, scene.layout.box);
  life.look({ ...moved, aim: pairUnder(moved, scene.layout.box, scene.size, point) });
}

/** @param {PointerEvent} event @param {Hands} hands @param {Map<number, Point>} fingers
 * @param {Drag} drag */
function pressed(event, hands, fingers, drag) {
  const box = under(event, ".map-cells, .map-mini");
  if (!(box instanceof HTMLElement) || event.button !== 0) return;
  drag.mini = box.matches(".map-mini");
  drag.moved = 0;
  fingers.set(event.pointerId, pointIn(event, box));
  box.setPointerCapture(event.pointerId);
  if (drag.mini) centre(event, box, hands);
}

/** The view's middle goes where the minimap is pressed.
 * @param {PointerEvent} event @param {Element} box @param {Hands} hands */
function centre(event, box, { map, life }) {
  const scene = map();
  if (!scene) return;
  const [px, py] = pointIn(event, box);
  const { width, height } = miniBox(scene);
  const { rows, keys } = scene.size;
  life.look({
    ...panned(
      { ...scene.camera, x: (px / width) * keys, y: (py / height) * rows },
      0,
      0,
      scene.size,
      scene.layout.box,
    ),
    aim: null,
  });
}

/** @param {PointerEvent} event @param {Hands} hands @param {Map<number, Point>} fingers
 * @param {Drag} drag */
function moved(event, hands, fingers, drag) {
  const { map, life, state } = hands;
  if (state().view !== "map") return;
  const from = fingers.get(event.pointerId);
  if (!from) {
    aimed(event, hands);
    return;
  }
  const box = under(event, ".map-cells, .map-mini");
  const scene = box && map();
  if (!box || !scene) return;
  if (drag.mini) {
    centre(event, box, hands);
    return;
  }
  const to = pointIn(event, box);
  drag.moved = Math.max(drag.moved, Math.hypot(to[0] - from[0], to[1] - from[1]));
  if (fingers.size === 1 && drag.moved < STILL) return;
  const others = [...fingers].filter(([id]) => id !== event.pointerId);
  fingers.set(event.pointerId, to);
  drag.moved = Math.max(drag.moved, STILL);
  const { camera, size, layout } = scene;
  const share = others.length ? 0.5 : 1; // of two fingers each moves the picture by half
  const slid = panned(
    camera,
    share * (from[0] - to[0]),
    share * (from[1] - to[1]),
    size,
    layout.box,
  );
  const pinch = others.length ? spread(others[0][1], from, to) : null;
  life.look({
    ...(pinch ? zoomedAt(slid, pinch.by, pinch.at, size, layout.box) : slid),
    aim: null,
  });
}

/** @param {Point} other @param {Point} from @param {Point} to */
function spread(other, from, to) {
  const far = (/** @type {Point} */ [x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
  const at = /** @type {Point} */ ([(other[0] + to[0]) / 2, (other[1] + to[1]) / 2]);
  return { by: Math.log2(far(from) / far(to)), at };
}

/** What the read-out speaks of: a move beside the map ends it.
 * @param {PointerEvent} event @param {Hands} hands */
function aimed(event, hands) {
  const { map, state } = hands;
  if (event.pointerType !== "mouse") return;
  const box = under(event, ".map-cells");
  const scene = box && map();
  const aim =
    box && scene
      ? pairUnder(scene.camera, scene.layout.box, scene.size, pointIn(event, box))
      : null;
  const before = state().map.aim;
  if (aim?.[0] !== before?.[0] || aim?.[1] !== before?.[1])
    hands.glance({ map: { ...state().map, aim } });
}

/** @param {PointerEvent} event @param {Hands} hands @param {Map<number, Point>} fingers
 * @param {Drag} drag */
function lifted(event, { map, act, state }, fingers, drag) {
  if (!fingers.delete(event.pointerId) || drag.moved >= STILL || drag.mini) return;
  const box = under(event, ".map-cells");
  const scene = box && map();
  if (!box || !scene) return;
  const pair = pairUnder(scene.camera, scene.layout.box, scene.size, pointIn(event, box));
  drag.locks = [drag.locks[1], state().map.lock];
  if (pair) act("map-hold", pair.join(":"));
}

/** Nearer; what the two clicks of it held is let go again.
 * @param {MouseEvent} event @param {Hands} hands @param {Drag} drag */
function doubled(event, { map, life, act }, drag) {
  const box = under(event, ".map-cells");
  const scene = box && map();
  if (!box || !scene) return;
  const { camera, size, layout } = scene;
  act("map-rehold", drag.locks[0]?.join(":") ?? "");
  life.look(zoomedAt(camera, event.shiftKey ? 1 : -1, pointIn(event, box), size, layout.box));
}

/** A click on a label of an axis picks its token.
 * @param {MouseEvent} event @param {Hands} hands */
function named(event, { map, act }) {
  const canvas = under(event, ".map-labels");
  const scene = canvas && map();
  if (!canvas || !scene) return;
  const rows = canvas.getAttribute("data-axis") === "rows";
  const axis = axisOf(scene.camera, scene.layout.box, scene.size, rows);
  const at = tokenAt(axis, pointIn(event, canvas)[rows ? 1 : 0]);
  if (at !== null) act(rows ? "map-ask" : "map-key", String(at));
}

/** @param {Hands} hands */
function left({ state, glance }) {
  if (state().view === "map" && state().map.aim) glance({ map: { ...state().map, aim: null } });
}
