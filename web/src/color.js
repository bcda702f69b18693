// Token colours: the Okabe-Ito set, used for tokens and nothing else. They go round after eight:
// a token beyond the eighth wears its colour as a border only.

export const COLORS = 8;

/**
 * The class of a cell of the weight ramp (its ends are --faint and --deep): its text is black or
 * white, whichever has the better contrast. The ramp passes the turning point at 0.58 in light,
 * 0.52 in dark.
 * @param {number} weight
 */
export const rampClass = (weight) =>
  `filled${weight > 0.58 ? " deep" : weight > 0.52 ? " middle" : ""}`;

/** @param {number} index */
export const colorClass = (index) => `c${index % COLORS}`;
