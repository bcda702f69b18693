// The figures: tokens, ledger, grid, layer. Token colours are the Okabe-Ito set; two of them are a shade
// darker on chips, so that white text has a contrast of 4.5.

export const FIGURES_CSS = `
.c0 { --c: #0072b2; --chip: #0072b2; --on: #fff; } .c1 { --c: #d55e00; --chip: #bd5300; --on: #fff; }
.c2 { --c: #009e73; --chip: #007f5c; --on: #fff; } .c3 { --c: #cc79a7; --chip: #cc79a7; --on: #111; }
.c4 { --c: #e69f00; --chip: #e69f00; --on: #111; } .c5 { --c: #56b4e9; --chip: #56b4e9; --on: #111; }
.c6 { --c: #f0e442; --chip: #f0e442; --on: #111; }
.c7 { --c: light-dark(#000, #8d9097); --chip: light-dark(#1c1d20, #4b4e55); --on: #fff; }
.chip { display: inline-flex; align-items: baseline; gap: 4px; max-width: 100%; min-width: 24px; justify-content: center; border-radius: 6px; padding: 1px 8px; background: var(--chip); color: var(--on); font-weight: 600; font-size: 13px; line-height: 1.5; white-space: pre; border: 1px solid transparent; }
.chip small { flex: none; font-size: 11px; font-weight: 500; } .chip bdi { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; }
.chip.later { background: var(--panel); color: var(--ink); border-color: var(--c); }
button.chip:hover { filter: brightness(1.08); }

table.tokens { border-collapse: separate; border-spacing: 0; width: 100%; }
.tokens th, .tokens td { padding: 8px 5px; text-align: center; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--line); }
.tokens tbody:last-child tr:last-child > * { border-bottom: 0; }
.tokens.stacked th, .tokens.stacked td { padding: 3px 4px; text-align: left; border-bottom: 0; } .tokens.stacked tbody:not(:last-child) { border-bottom: 1px solid var(--line); }
.tokens.stacked { border-collapse: collapse; } .tokens.stacked tbody tr:first-child > * { padding-top: 7px; } .tokens.stacked tbody tr:last-child > * { padding-bottom: 7px; }
.tokens.stacked th.side { padding-left: 4px; } .tokens.stacked .chip { max-width: 112px; overflow: hidden; }
.tokens .side { color: var(--soft); font-size: 12.5px; }
.tokens thead th { color: var(--soft); font-size: 12.5px; padding: 6px; }
.tokens tbody th:first-child { padding-left: 9px; }
.tokens tr.picked > * { background: var(--wash); }
.tokens td { border-radius: 0; }
.number { border-radius: 4px; padding: 3px 3px; margin: 0 -2px; text-align: center; }
.number:hover { background: var(--faint); box-shadow: inset 0 -1px var(--edge); }
.tokens td.lit .number { font-weight: 650; }
.tokens .lit { box-shadow: inset 0 0 0 2px var(--focus); border-radius: 7px; }
input.edit { width: 50px; padding: 1px 5px; text-align: center; border-color: var(--focus); }
input.edit.name { width: 84px; text-align: left; }

.titled { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 16px; }
.titled h2 { overflow-wrap: anywhere; min-width: 0; }
.switches { display: flex; gap: 14px; font-size: 13px; align-items: center; }
.switches button { color: var(--soft); }
.switches .switch { border-bottom: 1px dotted var(--edge); }
.switches .switch[aria-checked=false] { color: var(--ink); font-weight: 600; }
.switches .switch[aria-disabled] { border-bottom: 0; cursor: default; }
.choice { display: flex; border: 1px solid var(--line); border-radius: 7px; background: var(--panel); }
.choice button { padding: 2px 10px; border-radius: 6px; }
.choice button[aria-pressed=true] { color: var(--ink); font-weight: 600; background: var(--faint); }

.ledger-part .scroll { --step: 130px; --margin: var(--sums); --pad: 7px; }
table.ledger { width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed; min-width: calc(var(--step) + var(--keys) * (var(--cell) + 2 * var(--pad)) + var(--margin) + 2 * var(--pad) + var(--rest)); }
.ledger-part { container-type: inline-size; }
.ledger-part .scroll { font-size: 15.5px; --each: calc(var(--cell) + 2 * var(--pad)); --left: calc(100cqi - 2px - var(--step) - var(--margin) - 2 * var(--pad)); --rest: 0px; }
@supports (width: mod(7px, 3px)) {
  .ledger-part .scroll { --rest: clamp(0px, min(var(--keys) * var(--each) - var(--left), var(--left) - var(--each)) * 999, mod(var(--left), var(--each))); }
}
.ledger thead .step { width: calc(var(--step) + var(--rest)); font-size: inherit; }
.ledger-part .scroll { scroll-snap-type: x mandatory; } .ledger thead th { scroll-snap-align: start; } .ledger thead .margin { scroll-snap-align: none; }
 .ledger thead .margin { width: calc(var(--margin) + 2 * var(--pad)); }
.ledger-part .scroll { scroll-padding: 0 calc(var(--margin) + 2 * var(--pad)) 0 calc(var(--step) + var(--rest)); }
.ledger th, .ledger td { padding: 10px var(--pad); text-align: center; font-weight: 400; border-bottom: 1px solid var(--line); height: 68px; }
.ledger thead th, .ledger thead td { height: 46px; padding: 8px var(--pad); }
.ledger tbody tr:last-child > * { border-bottom: 0; }
.ledger .step { position: sticky; left: 0; z-index: 1; background: var(--panel); text-align: left; padding-left: 16px; }
.ledger tr:first-child .step { border-top-left-radius: 10px; } .ledger tbody tr:first-child .step { border-radius: 0; } .ledger tbody tr:last-child .step { border-bottom-left-radius: 10px; }
.ledger .step b { display: block; font-weight: 600; } .ledger .step span { color: var(--soft); font-size: 12.5px; }
.ledger tbody tr:not(.unfolded) .step { color: var(--soft); } .ledger tbody tr:not(.unfolded) .step b { font-weight: 500; }
.ledger td { cursor: cell; }
.ledger td small { display: block; color: var(--soft); font-size: 12px; margin-top: 1px; }
.ledger .margin { position: sticky; right: 0; z-index: 1; background: var(--panel); border-left: 1px solid var(--line); }
.scroll[data-more~=right] .margin::before, .scroll[data-more~=left] .step::after { content: ""; position: absolute; top: 0; bottom: 0; width: 7px; pointer-events: none; }
.scroll[data-more~=right] .margin::before { right: 100%; background: linear-gradient(to left, var(--line), transparent); }
.scroll[data-more~=left] .step::after { left: 100%; background: linear-gradient(to right, var(--line), transparent); }
.sideways { display: none; font-size: 13px; } .ledger-part:has(> .scroll[data-more]) .sideways { display: block; }
.ledger td .label { color: var(--soft); } .ledger td b { font-weight: 650; }
.ledger .sink, .ledger .rest { border-left: 1px dashed var(--line); color: var(--soft); }
.ledger th.rest { white-space: normal; min-width: 104px; font-size: 13px; } .ledger th.sink { font-size: 13px; }
.ledger.many td:not(.margin) { white-space: nowrap; }
.ledger thead .chip { flex-direction: column; align-items: center; gap: 0; } .ledger thead .chip bdi { max-width: 100%; } .ledger thead .chip small { line-height: 1.1; }
.ledger .later-step { color: var(--edge); }
.ledger .lit { box-shadow: inset 0 0 0 1.5px color-mix(in srgb, var(--focus) 55%, transparent); border-radius: 7px; background: var(--wash); }
.ledger td.at { box-shadow: inset 0 0 0 2px var(--focus); border-radius: 7px; }
.ledger td:focus-visible { outline-offset: -2px; border-radius: 7px; }
.ledger:has(td.at:not(:focus)) td:focus-visible { outline: 1px dashed var(--soft); }
.ledger td.lost { color: var(--soft); font-style: italic; }
.ledger td.tint { background: color-mix(in srgb, var(--c) calc(4% + var(--w) * 30%), transparent); }
.bar { display: block; height: 5px; border-radius: 3px; background: var(--c); margin: 5px auto 0; width: max(2px, calc(var(--w) * 100%)); }
.ledger tr.unfolded td > * { animation: appear .2s ease-out; }
@keyframes appear { from { opacity: 0; } }
.hatched { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--line) 5px 6px) !important; color: var(--soft); }
.ledger td.hatched { font-size: 13px; }
.waiting { padding: 40px 16px; }
.readout { display: block; min-height: 50px; padding: 12px 16px; border-left: 3px solid var(--focus); background: var(--panel); border-radius: 0 8px 8px 0; font-size: 16px; overflow-wrap: anywhere; }
.exactly { color: var(--soft); font-size: 15px; }
.note { font-size: 14px; padding: 0 2px; max-width: 70ch; }
.steps { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: baseline; margin-top: 4px; }
.steps .where { flex: 1 1 240px; } .steps .link { font-size: 13px; }

table.grid { width: 100%; border-collapse: separate; border-spacing: 3px; table-layout: fixed; }
.grid th { font-weight: 400; padding: 0 0 2px; overflow: hidden; } .grid tbody th { padding: 0 4px 0 0; text-align: left; }
.grid thead td { width: var(--names); }
.grid td { height: 62px; text-align: center; border-radius: 6px; cursor: pointer; font-size: 13.5px; overflow: hidden; }
.grid thead td { height: auto; cursor: default; }
.grid .chip { padding: 1px 6px; overflow: hidden; }
.grid .void { border: 1px dashed var(--line); color: var(--soft); }
.grid tr.picked td { box-shadow: 0 0 0 1px var(--edge); }
.grid td.lit { box-shadow: 0 0 0 3px var(--focus); }
.filled { background: color-mix(in oklab, var(--deep) calc(var(--w) * 100%), var(--faint)); }
.filled { color: light-dark(#000, #fff); } .filled.middle { color: #000; } .filled.deep { color: light-dark(#fff, #000); }
.grid.dense { border-spacing: 1px; } .grid.dense td { height: 24px; border-radius: 3px; font-size: 12px; }
.grid.upright thead th { vertical-align: bottom; text-align: center; } .grid.dense .chip { font-size: 11px; } .grid.upright thead .chip { writing-mode: vertical-rl; padding: 5px 0; min-width: 0; width: 100%; max-width: 26px; max-height: 104px; line-height: 1.1; justify-content: flex-start; align-items: center; }
.grid.dense small { font-size: 10px; }
.legend { display: flex; align-items: center; gap: 9px; color: var(--soft); font-size: 12px; }
.ramp { flex: 1; height: 8px; border-radius: 4px; background: linear-gradient(90deg in oklab, var(--faint), var(--deep)); }
.grid-part .plain { align-self: start; }

.layer { padding: 18px; display: flex; flex-direction: column; gap: 24px; }
.layer-step { display: flex; flex-direction: column; gap: 9px; min-width: 0; }
.layer h3 { font-size: 15px; font-weight: 650; display: flex; gap: 9px; align-items: baseline; }
.ordinal { color: var(--soft); font-weight: 500; }
.layer .quiet { max-width: 68ch; }
.layer .readout { background: var(--paper); font-size: 15px; min-height: 0; padding: 8px 14px; }
.product { position: relative; display: flex; align-items: center; flex-wrap: wrap; gap: 10px 14px; overflow-x: auto; padding: 4px 2px 6px; }
.sign { font-size: 18px; color: var(--soft); white-space: nowrap; }
.matrix-box { display: flex; flex-direction: column; align-items: center; gap: 3px; flex: none; }
.matrix-name { color: var(--soft); font-size: 12.5px; font-style: italic; }
.matrix { border-collapse: separate; border-spacing: 2px; }
.matrix td { min-width: 36px; height: 30px; padding: 2px 7px; text-align: center; border-radius: 5px; white-space: nowrap; background: var(--paper); }
.matrix td.filled { background: color-mix(in oklab, var(--deep) calc(var(--w) * 100%), var(--faint)); }
.matrix thead td { background: none; min-width: 0; padding: 0; height: auto; }
.matrix th { font-weight: 400; padding: 0 4px 0 0; } .matrix thead th { padding: 0 0 2px; }
.matrix [data-act] { cursor: cell; }
.matrix td.lit { background: var(--wash); box-shadow: inset 0 0 0 1.5px color-mix(in srgb, var(--focus) 55%, transparent); }
.matrix td.at { box-shadow: inset 0 0 0 2px var(--focus); }

@media (max-width: 859px) {
  .tokens.stacked .chip { max-width: 148px; }
  .ledger .step { padding-left: 12px; font-size: 14px; box-shadow: 1px 0 var(--line); }
  .ledger th, .ledger td { padding-top: 9px; padding-bottom: 9px; } .number { padding: 8px 6px; margin: 0 -4px; }
  .grid td { height: 54px; } .say { max-width: none; }
}
@media (max-width: 599px) {
  .ledger-part .scroll { --step: 88px; --margin: var(--sums-narrow); --pad: 5px; font-size: 14px; }
  .ledger .step { padding-left: 9px; } .ledger .step span { font-size: 12px; }
  .ledger td .label { display: block; font-size: 12px; }
}
@media (pointer: coarse) { .key-hint { display: none; } }
@media (forced-colors: active) {
  .chip { border-color: CanvasText; } .ledger td.at, .matrix td.at, .grid td.lit { outline: 2px solid Highlight; outline-offset: -2px; }
  .ledger .lit, .tokens .lit, .matrix td.lit { outline: 1px dashed Highlight; outline-offset: -2px; }
  .bar { background: CanvasText; } .filled, .ramp { forced-color-adjust: none; }
  .choice button[aria-pressed=true] { text-decoration: underline; }
}
`;
