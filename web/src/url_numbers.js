/**
 * A whole number of an address, or null where it is none or too large.
 * @param {string | null} text
 * @param {number} below
 */
export function whole(text, below) {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) < below ? Number(text) : null;
}
