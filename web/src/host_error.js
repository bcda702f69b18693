/** An answer that the page cannot get: its message is a sentence for the reader. */
export class HostError extends Error {
  /**
   * @param {string} message
   * @param {"token" | "gone" | "refused"} kind
   * @param {string} [argument]  what the message begins with, where a program reads it
   */
  constructor(message, kind, argument = "") {
    super(message);
    this.kind = kind;
    this.argument = argument;
  }

  /** The message without the argument's name, for a field that is before the reader. */
  get sentence() {
    const name = `${this.argument}: `;
    const text = this.message.startsWith(name) ? this.message.slice(name.length) : this.message;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
}
