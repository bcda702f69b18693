/** An answer that the page cannot get: its message is a sentence for the reader. */
export class HostError extends Error {
  /**
   * @param {string} message
   * @param {"token" | "gone" | "refused"} kind
   */
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
}
