// Controls, lone surrogates, every space but the plain one, zero-width, filling and bidirectional
// marks, variation selectors, tag characters, line separators, BOM: the same table as tokens.py.
// With the u flag a surrogate pair is one character, so only lone ones match.
const UNSEEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff" +
    "\\uffa0\\ufff0-\\ufffc\\ufffe\\uffff\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu",
);

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
  if (/^ +$/.test(token)) return token === " " ? "⟨space⟩" : `⟨${token.length} spaces⟩`;
  return token.replace(UNSEEN, (found) => NAMED[found] ?? `⟨${hex(found)}⟩`);
}

/** @param {string} character */
function hex(character) {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}
