// The numbers of the strips beside a grid, for the rows and keys that it shows.
import { stripScale } from "./heat_strips.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./heads_grid.js").HeadView} HeadView */
/** @typedef {import("./heat_grid.js").Grid} Grid */

/**
 * Of tokens they are the server's facts; of words, and until the facts arrive, those of the shown
 * grid.
 * @param {HeadsScene} scene
 * @param {HeadView} view
 * @returns {{entropy: ArrayLike<number>, received: ArrayLike<number>, of: string}}  `of` what
 */
export function stripsOf({ words }, { grid, facts }) {
  if (!grid) return { entropy: [], received: [], of: "" };
  if (words || !facts) return { ...summed(grid), of: words ? "" : ", in the shown part" };
  const [rows, keys] = grid.shape;
  return {
    entropy: facts.entropy.slice(grid.rowAt, grid.rowAt + rows),
    received: facts.received.slice(grid.keyAt, grid.keyAt + keys),
    of: "",
  };
}

/**
 * Two heads beside each other have one scale for each kind of strip.
 * @param {HeadsScene} scene
 * @returns {{entropy: import("./heat_strips.js").Scale, received: import("./heat_strips.js").Scale}}
 */
export function stripScales(scene) {
  const strips = [scene.first, scene.second].flatMap((view) =>
    view?.grid ? [stripsOf(scene, view)] : [],
  );
  const all = (/** @type {"entropy" | "received"} */ name) =>
    strips.flatMap((one) => Array.from(one[name]));
  return {
    entropy: stripScale(all("entropy")),
    received: stripScale(all("received"), { log: true }),
  };
}

/** @param {Grid} grid */
function summed({ shape: [rows, columns], weights, padded }) {
  const entropy = new Float64Array(rows);
  const received = new Float64Array(columns);
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i];
    const r = Math.floor(i / columns);
    if (!padded?.[r]) received[i % columns] += weight;
    if (weight !== 0) entropy[r] -= weight * Math.log(weight);
  }
  return { entropy, received };
}
