/**
 * The shapes that cross module borders. Nothing runs here.
 *
 * @typedef {"score" | "scaled" | "capped" | "biased" | "visible" | "shifted" | "exp" | "weight" | "reads"} StepId
 * @typedef {"none" | StepId} Progress  the last step that is unfolded
 * @typedef {"textbook" | "shifted"} Reading
 * @typedef {"query" | "key" | "value"} Side
 *
 * @typedef {object} Sizes
 * @property {number} batch
 * @property {number} heads
 * @property {number} q_len
 * @property {number} kv_len
 * @property {number} head_dim
 * @property {number | null} value_dim
 *
 * @typedef {object} Info  the answer of op `info`
 * @property {string} version
 * @property {string[]} modes
 * @property {string} title
 * @property {"lesson" | "file" | "lookup"} source
 * @property {number[]} batch_shape
 * @property {Sizes} sizes
 * @property {string[]} tokens
 * @property {string[]} key_tokens
 * @property {string} dtype
 * @property {{causal: boolean, window: [number | null, number | null] | null, mask: boolean,
 *   bias: boolean, sinks: boolean, kv_lens: unknown, softcap: number | null, scale: number}} options
 * @property {boolean} editable
 * @property {string | null} editable_reason
 * @property {{edit_tokens: number, edit_dims: number, ledger_keys: number}} limits
 *
 * @typedef {object} Arrays  the answer of op `arrays`: one head, to compute with on the page
 * @property {number[][]} query
 * @property {number[][]} key
 * @property {number[][]} value
 * @property {boolean[][]} visible
 * @property {number[][] | null} bias
 * @property {number | null} sink
 * @property {number} scale
 * @property {number | null} softcap
 * @property {number | null} q_offset
 *
 * @typedef {object} Edit  what a person changed; *_from names the row it was before, -1 for a new one
 * @property {string[]} tokens
 * @property {string[]} key_tokens
 * @property {number[][]} query
 * @property {number[][]} key
 * @property {number[][]} value
 * @property {number[]} row_from
 * @property {number[]} key_from
 *
 * @typedef {object} Problem  everything the arithmetic of one head needs
 * @property {string[]} tokens
 * @property {string[]} key_tokens
 * @property {number[][]} query
 * @property {number[][]} key
 * @property {number[][] | null} value
 * @property {boolean[][]} visible
 * @property {number[][] | null} bias
 * @property {number | null} sink
 * @property {number} scale
 * @property {number | null} softcap
 * @property {number | null} q_offset
 *
 * @typedef {object} LedgerRecord  every step of one query's row, as op `trace` answers it
 * @property {number} row
 * @property {string} token
 * @property {number | null} position
 * @property {number[]} query
 * @property {number[]} keys
 * @property {string[]} key_tokens
 * @property {number[][]} key
 * @property {number[][] | null} value
 * @property {boolean[]} visible
 * @property {number[]} products
 * @property {number[]} scaled
 * @property {number[] | null} capped
 * @property {number[] | null} bias
 * @property {number[]} scores
 * @property {number[]} exp
 * @property {number} exp_sum
 * @property {number} row_max
 * @property {number[]} shifted_exp
 * @property {number} row_sum
 * @property {{logit: number, exp: number, shifted_exp: number, weight: number} | null} sink
 * @property {number[]} weights
 * @property {number} weights_sum
 * @property {number[][] | null} contributions
 * @property {number[] | null} out
 * @property {number} lse
 * @property {number} scale
 * @property {number | null} softcap
 * @property {number} visible_count
 * @property {Rest | null} rest
 *
 * @typedef {object} Rest  the keys that are not shown, summed
 * @property {number} count
 * @property {number} visible
 * @property {number} exp
 * @property {number} shifted_exp
 * @property {number} weight
 * @property {number[] | null} contribution
 *
 * @typedef {{kind: "key", index: number, key: number} | {kind: "rest"} | {kind: "sink"} | {kind: "sum"}} Column
 *
 * @typedef {object} Cell
 * @property {string} text
 * @property {string} [note]  the small line below
 * @property {boolean} [hidden]
 * @property {boolean} [lost]  the textbook form has no number here
 * @property {number} [weight]  0 ... 1, tints the cell
 * @property {string} [label]  a soft word before the text
 * @property {boolean} [strong]
 *
 * @typedef {object} LedgerRow
 * @property {StepId} id
 * @property {string} name
 * @property {string} how
 * @property {Cell[]} cells  one a column
 *
 * @typedef {{step: StepId, column: number}} Cursor
 * @typedef {{side: Side, row: number, col: number}} Spot  a number in the tokens table
 *
 * @typedef {object} Editing  an open input in the tokens table
 * @property {"number" | "name"} what
 * @property {Spot} spot
 * @property {string} draft
 *
 * @typedef {object} Exercise  the answer of op `exercise`
 * @property {string} skill
 * @property {number} seed
 * @property {number} number
 * @property {number} of
 * @property {string} question
 * @property {{label: string, value: string}[]} given
 * @property {"numbers" | "choice"} kind
 * @property {{name: string, label: string}[]} fields
 * @property {{id: string, text: string}[] | null} choices
 * @property {string} hint
 *
 * @typedef {object} Verdict  the answer of op `check`
 * @property {boolean} correct
 * @property {boolean[]} fields
 * @property {string | null} slip
 * @property {string} verdict
 * @property {string} explanation
 * @property {string[]} steps
 *
 * @typedef {object} Turn  the exercise on the page
 * @property {string} skill
 * @property {number} seed
 * @property {Exercise | null} exercise
 * @property {string[]} typed
 * @property {Verdict | null} verdict
 * @property {boolean} revealed  the solution of these numbers has been shown
 * @property {string | null} trouble
 *
 * @typedef {object} Lesson  the answer of op `lesson`
 * @property {{id: string, title: string, paragraphs: string[],
 *   tables: {caption: string, columns: string[], rows: string[][]}[]}[]} sections
 * @property {string[]} recap
 * @property {{skill: string, text: string}[]} checklist
 *
 * @typedef {object} State  all that a person has chosen; whatever can be derived is not here
 * @property {Info} info
 * @property {Lesson} lesson
 * @property {number} batch
 * @property {number} head
 * @property {number} row
 * @property {Progress} step
 * @property {boolean} scaled
 * @property {Reading} reading
 * @property {Cursor} cursor
 * @property {Cursor | null} hover
 * @property {number[]} seen  rows that have entered the grid
 * @property {Record<string, Edit>} edits  by "batch/head"
 * @property {Editing | null} editing
 * @property {Spot} spot
 * @property {string | null} trouble  one sentence about the last wrong input
 * @property {boolean} layer  all queries at once are shown
 * @property {[number, number]} cell  the cell of the layer whose row and column light up
 * @property {number} section
 * @property {Turn} turn
 * @property {string[]} solved
 * @property {string} notice
 * @property {string | null} offline
 *
 * @typedef {object} Host
 * @property {(op: string, args?: Record<string, string>) => Promise<{json: any, bytes: Uint8Array | null}>} call
 */
export {};
