// Picking an extreme of the profiles: its query or key is picked, and the map moves where it stands
// out of sight.
import { edgesOf, heldCamera } from "./map_camera.js";

/** @typedef {import("./errands.js").Page} Page */

/** @param {Page} page @returns {Record<string, (argument: string) => void>} */
export function profileErrands(page) {
  return {
    "map-see-query": (row) => see(page, "y", Number(row)),
    "map-see-key": (key) => see(page, "x", Number(key)),
  };
}

/** @param {Page} page @param {"x" | "y"} axis @param {number} at  a position */
function see(page, axis, at) {
  const scene = page.map();
  if (!scene || !(at >= 0 && at < (axis === "x" ? scene.size.keys : scene.size.rows))) return;
  const { camera, size, layout } = scene;
  page.update(axis === "x" ? { key: at, follow: true } : { row: at, picked: true, follow: false });
  const { left, top, right, bottom } = edgesOf(camera, layout.box);
  const [from, upTo] = axis === "x" ? [left, right] : [top, bottom];
  if (at >= from && at < upTo) return;
  page.life.look(heldCamera({ ...camera, [axis]: at + 0.5 }, size, layout.box));
}
