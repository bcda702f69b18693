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
 * @property {number} kv_heads
 * @property {number} group  query heads that share one of them
 * @property {number} q_len
 * @property {number} kv_len
 * @property {number} head_dim
 * @property {number | null} value_dim
 *
 * @typedef {object} AxisInfo  what stands along the queries or the keys
 * @property {string[]} tokens
 * @property {number[] | null} words  the word of each token; -1: of none
 * @property {[number, number][]} padding  spans of tokens that only fill up the batch
 * @property {number | null} [prompt]  how many of the tokens a model was given that wrote the others
 *
 * @typedef {object} LayerInfo  one recorded lookup
 * @property {string} label
 * @property {string} name
 * @property {number} number
 * @property {string} part
 * @property {number[]} heads  their numbers in the model
 * @property {number[]} batch_shape
 * @property {string} dtype
 * @property {Sizes} sizes
 * @property {Info["options"]} options
 * @property {boolean} editable
 * @property {string | null} editable_reason
 * @property {number[]} queries  which axis; one for all batch entries, or one for each
 * @property {number[]} keys
 *
 * @typedef {object} CaptureInfo  the answer of op `info`
 * @property {string} version
 * @property {string[]} modes
 * @property {string} capture  its id on the shelf
 * @property {{id: string, title: string, source: string}[]} shelf
 * @property {string} title
 * @property {string} source  "lesson" where it is the worked example
 * @property {Record<string, string>} about
 * @property {AxisInfo[]} axes
 * @property {LayerInfo[]} layers
 * @property {Limits} limits
 *
 * @typedef {object} Limits
 * @property {number} edit_tokens
 * @property {number} edit_dims
 * @property {number} ledger_keys
 * @property {number} grid_cells
 * @property {number} thumbnail
 *
 * @typedef {object} Info  one lookup of a capture, as the steps read it; derived, see capture_info.js
 * @property {string} version
 * @property {string[]} modes
 * @property {string} title
 * @property {string} source
 * @property {number[]} batch_shape
 * @property {Sizes} sizes
 * @property {string[]} tokens
 * @property {string[]} key_tokens
 * @property {string} dtype
 * @property {{causal: boolean, window: [number | null, number | null] | null, mask: boolean,
 *   bias: boolean, sinks: boolean, kv_lens: unknown, q_offset?: unknown, softcap: number | null, scale: number}} options
 * @property {boolean} editable
 * @property {string | null} editable_reason
 * @property {Limits} limits
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
 * @property {number} [value_dim]  where there may be no key to tell it
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
 * @property {{name: string, label: string, needed: boolean}[]} fields  a step on the way is not
 *   `needed`
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
 * @typedef {"steps" | "heads" | "map" | "table"} ViewName
 * @typedef {"none" | "heads" | "layers" | "both"} Average  over what the weights are averaged
 * @typedef {[number, number]} Pair  a query and a key, as positions
 * @typedef {{stage: number, head: number}} HeadAt  a layer and a head, as positions in the capture
 *
 * @typedef {object} Bookmark  a place of the map; `lock`: the pair was held
 * @property {number} query
 * @property {number} key
 * @property {number} z
 * @property {boolean} lock
 *
 * @typedef {object} Going  where to, as it is typed
 * @property {string} query
 * @property {string} key
 * @property {string} trouble
 * @property {"query" | "key" | null} wrong
 *
 * @typedef {object} MapState  where the map looks, and how
 * @property {number} x  the key at the centre
 * @property {number} y  the query
 * @property {number | null} z  log2 of the weights along a pixel; null: as much as there is
 * @property {"max" | "share"} pool  what a cell shows
 * @property {[number, number]} range  of the colours, percent of the cells in view
 * @property {Pair | null} aim  under the pointer, or at the centre
 * @property {Pair | null} lock  the pair that the read-out holds
 * @property {Bookmark[]} marks
 * @property {Going | null} going  the open form
 * @property {boolean} paused  the map is not built on
 * @property {{links: {query: number, key: number, weight: number}[], at: number, part: number,
 *   region: {rows: [number, number], keys: [number, number]}} | null} tour  the
 *   strongest links of a view, and which of them is flown to
 *
 * @typedef {object} TableState  how the table of all heads stands
 * @property {string} by  the column that it is sorted by
 * @property {boolean} down  the largest first
 * @property {number | null} layer  the only one that is shown
 * @property {boolean} paused  no further head is worked out
 * @property {string} at  the row that Tab reaches, "stage.head"
 *
 * @typedef {object} State  all that a person has chosen; whatever can be derived is not here
 * @property {CaptureInfo} capture
 * @property {Info} info
 * @property {Record<string, Partial<State>>} shelved  the places in captures that were left
 * @property {Lesson} lesson
 * @property {ViewName} view
 * @property {number} stage  which layer, as a position in the capture
 * @property {number} batch
 * @property {number} head  a position in the layer
 * @property {boolean} open  a head is opened
 * @property {boolean} picked  a query is picked in the heads view: `row`
 * @property {number | null} key  the picked key
 * @property {HeadAt | null} compare
 * @property {Average} average
 * @property {boolean} words
 * @property {boolean} first  the colours count the first key
 * @property {Pair} corner  where the shown part of a large grid begins
 * @property {HeadAt} thumb  the thumbnail that Tab reaches
 * @property {boolean} follow  the ledger's cursor stands at the picked key
 * @property {Pair | null} mark  the cell of the grid that the arrow keys move
 * @property {Pair | null} point  the cell under the pointer; key -1 is the sink
 * @property {HeadAt | null} over  the thumbnail under the pointer
 * @property {MapState} map
 * @property {TableState} table
 * @property {boolean} wide  every dimension of the vectors is shown
 * @property {boolean} inFile  the page is an exported file
 * @property {boolean} inCell  the page stands in a cell of a notebook
 * @property {string} waits  one sentence while nobody answers, who will
 * @property {number} room  pixels that the page is wide
 * @property {number} tall  and the window high
 * @property {boolean} going  an address is being followed: it is not written over
 * @property {"light" | "dark"} theme
 * @property {number} row
 * @property {Progress} step
 * @property {boolean} scaled
 * @property {Reading} reading
 * @property {Cursor} cursor
 * @property {Cursor | null} hover
 * @property {number[]} seen  rows that have entered the grid
 * @property {Record<string, Edit>} edits  by "stage/batch/head"
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
 * @property {boolean} [inFile]  the page carries its numbers: it is an exported file
 * @property {(op: string, args?: Record<string, string>) => Promise<{json: any, bytes: Uint8Array | null}>} call
 * @property {boolean} [inCell]  the page stands in a cell of a notebook
 * @property {Address} [address]  where the place is kept; else in the window's address
 * @property {Scheme} [theme]  the colours around the page; else those of the system
 * @property {(say: (sentence: string) => void) => void} [said]  hears how it stands with the kernel
 * @property {(event: KeyboardEvent) => void} [pass]  a key that is for the notebook
 *
 * @typedef {object} Address  where the page's place is kept, in the words of an address's fragment
 * @property {() => string} read
 * @property {(state: State) => void} write
 * @property {(moved: (hash: string) => void) => () => void} follow  returns what stops following
 *
 * @typedef {object} Scheme
 * @property {() => State["theme"]} now
 * @property {(changed: (theme: State["theme"]) => void) => () => void} follow  returns what stops it
 */
export {};
