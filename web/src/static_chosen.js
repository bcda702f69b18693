// Which heads of an exported file a grid or its facts speak of, where a layer and a head may be
// "mean".
import { counted } from "./numbers.js";
import { refuse, whole } from "./static_arguments.js";
import { indices } from "./static_rows.js";

/** @typedef {import("./static_arguments.js").Args} Args */
/** @typedef {import("./static_data.js").FileData} FileData */
/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {import("./static_data.js").Place} Place */

/**
 * Which axes a layer looks along: layers that share them can be compared token by token.
 * @param {FileData} data
 * @param {number} layer
 */
const axesOf = ({ info: { layers } }, layer) =>
  JSON.stringify([layers[layer].queries, layers[layer].keys]);

/**
 * The layers that look from the same tokens at the same tokens, in that batch entry too.
 * @param {FileData} data
 * @param {number} like
 * @param {number} batch
 */
export const layersLike = (data, like, batch) =>
  indices(data.layers.length).filter(
    (layer) =>
      axesOf(data, layer) === axesOf(data, like) && batch < data.info.layers[layer].sizes.batch,
  );

/**
 * The heads that are chosen, and how they are called. A mean over layers is over those that
 * recorded the head of that number, whatever its position.
 * @param {Opened} file
 * @param {Args} args
 * @returns {{places: Place[], what: string}}
 */
export function chosen({ data }, args) {
  const { layers } = data.info;
  const overLayers = args.layer === "mean";
  const overHeads = args.head === "mean";
  const like = whole(args, overLayers ? "like" : "layer", layers.length);
  const batch = whole(args, "batch", layers[like].sizes.batch);
  const { label, heads: own } = layers[like];
  const only = overHeads ? null : own[whole(args, "head", own.length)];
  const some = overLayers ? layersLike(data, like, batch) : [like];
  const places = some.flatMap((layer) =>
    indices(layers[layer].heads.length)
      .filter((head) => only === null || layers[layer].heads[head] === only)
      .map((head) => ({ layer, batch, head })),
  );
  if (!places.length) refuse("head", "must be there to be looked at; this layer has no heads.");
  return { places, what: nameOf(places, label, only, overLayers) };
}

/**
 * What is looked at: of a mean, how many heads it is over.
 * @param {Place[]} places
 * @param {string} label
 * @param {number | null} only  the number of the head; null: all of them
 * @param {boolean} overLayers
 */
function nameOf(places, label, only, overLayers) {
  const heads = counted(places.length, "head");
  const layers = counted(new Set(places.map(({ layer }) => layer)).size, "layer");
  if (only === null) return `mean over ${heads} of ${overLayers ? layers : label}`;
  return overLayers ? `mean of head ${only} over ${layers}` : `${label}, head ${only}`;
}
