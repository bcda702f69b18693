const VERB = /^(must|cannot|could|is|are|was|were|has|have|goes|go|needs|need|takes|take|lies|lie)\b/;

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

  /** The message as a sentence: what follows the argument's name is said of it, unless it says of
   * what it is. */
  get sentence() {
    const name = `${this.argument}: `;
    const said = this.message.startsWith(name) ? this.message.slice(name.length) : "";
    const text = VERB.test(said) ? `${this.argument} ${said}` : said || this.message;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
}
