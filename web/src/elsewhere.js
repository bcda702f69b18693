/**
 * Does the reader of a page in a frame work beside it by now? An answer that comes late takes no
 * focus from there.
 */
export const isElsewhere = () => self !== top && !document.hasFocus();
