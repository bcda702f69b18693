// The numbers of the strips beside a grid, for the rows and keys that it shows.

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

/** @param {Grid} grid */
function summed({ shape: [rows, columns], weights }) {
  const entropy = new Float64Array(rows);
  const received = new Float64Array(columns);
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i];
    received[i % columns] += weight;
    if (weight !== 0) entropy[Math.floor(i / columns)] -= weight * Math.log(weight);
  }
  return { entropy, received };
}
