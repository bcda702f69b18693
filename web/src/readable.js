// Controls, lone surrogates, zero-width and bidirectional marks, line separators, BOM: the same
// table as tokens.py. With the u flag a surrogate pair is one character, so only lone ones match.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]/gu;

/** @type {Record<string, string>} */
const NAMED = { "\n": "⏎", "\t": "⇥" };

/**
 * Show a token with its invisible characters spelt out, so that it can neither hide nor reorder
 * text.
 * @param {string} token
 * @returns {string}
 */
export function readable(token) {
  if (token === "") return "⟨empty⟩";
  return token.replace(UNSEEN, (found) => NAMED[found] ?? `⟨${hex(found)}⟩`);
}

/** @param {string} character */
function hex(character) {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
