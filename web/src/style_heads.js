// The heads view: the text, the thumbnails, the opened head, the vectors.

export const HEADS_CSS = `
.shelf { flex-direction: row; align-items: baseline; gap: 2px 24px; min-width: 0; flex: 1 1 0; }
.shelf > * { flex: none; max-width: 14em; } .shelf > :first-child { flex: 0 1 auto; max-width: none; min-width: 3em; }
.shelved { font-size: 15px; color: var(--soft); padding-bottom: 13px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.shelved:hover { color: var(--ink); text-decoration: underline; text-underline-offset: 4px; }
.shelf .title { padding-bottom: 11px; border-bottom: 2px solid var(--ink); margin-bottom: -1px; }

main.heads { grid-template-columns: minmax(0, 1fr); gap: 18px 24px; padding-top: 14px; }
main.heads-beside { grid-template-columns: 516px minmax(0, 1fr); grid-template-rows: auto auto 1fr; }
.heads-beside .about-text, .heads-beside .row-steps, .heads-beside > .ledger-part { grid-column: 1 / -1; }
.heads-beside > .head-part { grid-area: 2 / 2 / span 2; } .heads-beside > .said { grid-column: 1; }
.about-text, .row-steps { display: flex; flex-direction: column; gap: 10px; min-width: 0; } .about-text section { gap: 6px; }
.row-steps { min-height: 720px; gap: 26px; scroll-margin-top: -8px; border-top: 1px solid var(--line); padding-top: 24px; }
.about { display: flex; gap: 2px 24px; font-size: 13px; align-items: baseline; justify-content: space-between; }
.about > p { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .about details:not([open]) { flex: none; }
.about:has([open]) { flex-wrap: wrap; } .about:has([open]) > p { white-space: normal; overflow-wrap: anywhere; } .about summary { font-size: 13px; } .about details { font-size: 13px; }
.about dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; padding: 6px 0; overflow-wrap: anywhere; }
.about dt { color: var(--soft); }
.pieces { display: flex; flex-wrap: wrap; gap: 3px; direction: ltr; } .pieces > .quiet { padding: 2px 5px; font-size: 14px; }
.piece { padding: 1px 6px; border-radius: 5px; background: var(--panel); border: 1px solid var(--line); font-size: 14px; white-space: pre; max-width: 100%; overflow: hidden; }
.piece:hover { border-color: var(--edge); }
.piece.picked { background: var(--ink); color: var(--paper); border-color: var(--ink); font-weight: 600; }
.piece.padding { opacity: .55; font-style: italic; }
.fields-line { color: var(--soft); } .fields-line input { width: 76px; padding: 1px 6px; }

.thumbs { border-collapse: separate; border-spacing: 4px 4px; margin: -4px -4px 0; table-layout: fixed; width: max-content; }
.thumbs th { font-weight: 400; font-size: 12px; color: var(--soft); padding: 0; }
.thumbs thead td, .thumbs tbody th { width: calc(var(--label) - 4px); } .thumbs tbody th { text-align: right; padding: calc(var(--thumb) / 2 - 9px) 6px 0 0; vertical-align: top; white-space: nowrap; }
.thumbs tbody th > span { display: flex; justify-content: flex-end; gap: 4px; max-width: calc(var(--label) - 10px); margin-left: auto; } .thumbs th b { font-weight: 400; }
.layer-word { overflow: hidden; text-overflow: ellipsis; min-width: 0; }
.thumbs td { padding: 0; vertical-align: top; width: var(--column); }
.thumb { display: flex; flex-direction: column; align-items: center; width: var(--column); border-radius: 3px; scroll-margin-bottom: 52px; }
.thumb .picture { display: grid; place-items: center; width: var(--thumb); height: var(--thumb); background: var(--faint); border-radius: 2px; }
.thumb canvas { display: block; }
.thumb:hover .picture { outline: 2px solid var(--edge); }
.thumb.open .picture { outline: 3px solid var(--focus); } .thumb.second .picture { outline: 3px dashed var(--focus); }
.thumb:focus-visible { outline: none; } .thumb:focus-visible .picture { outline: 2px solid var(--focus); outline-offset: 2px; }
.most { display: block; width: 100%; padding-top: 3px; text-align: center; font-size: 11px; line-height: 1.25; color: var(--soft); white-space: pre; overflow: hidden; text-overflow: ellipsis; }
.most b { display: block; font-weight: 500; color: var(--ink); }
.most bdi { display: block; overflow: hidden; text-overflow: ellipsis; }
.thumb-line { min-height: 42px; font-size: 13px; overflow-wrap: anywhere; }
@media (min-width: 600px) { .thumb-line { position: sticky; bottom: 0; z-index: 1; background: var(--paper); border-top: 1px solid var(--line); padding-top: 4px; } }

.heads .headline { font-size: 19px; }
.head-tools { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; font-size: 13px; color: var(--soft); }
.head-tools .choice button { padding: 2px 9px; white-space: nowrap; } .head-tools .choice { flex-wrap: wrap; }
.compare select, .part-tools input, .pickers select { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--edge); border-radius: 6px; padding: 2px 6px; max-width: 12em; }
.compare { font-size: 13px; color: var(--soft); margin-left: auto; }
.pair-row { display: flex; gap: 12px; align-items: stretch; } .pair-row .readout { flex: 1; } .pair-row .plain { flex: none; align-self: center; font-size: 13px; }
.head-part .titled .link, .save .link { font-size: 13px; }
.readout.pair { height: 54px; min-height: 0; overflow-y: auto; padding: 4px 14px; line-height: 1.5; font-size: 15px; } .readout.pair .exactly { font-size: 14px; }
.save { display: inline-flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; } .save .quiet { font-size: 13px; }
.part-tools { display: flex; flex-wrap: wrap; gap: 6px 26px; font-size: 13px; color: var(--soft); }
.part-side { display: inline-flex; gap: 8px; align-items: center; } .part-tools input { width: 92px; }
.figures-pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 24px; align-items: start; }
.head-body, .said { display: flex; flex-direction: column; gap: 12px; min-width: 0; }
.head-body { gap: 16px; } .head-body.aside { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 24px; align-items: start; }
.aside .lists { grid-template-columns: minmax(0, 1fr); }
.head-figure { display: flex; flex-direction: column; gap: 8px; min-width: 0; }
.head-figure h3 { margin: 0; font-size: 15px; font-weight: 650; }
.heat { display: grid; grid-template-columns: var(--names) max-content max-content; gap: 3px; width: max-content; padding: 2px 6px 2px 0; }
.heat-corner { align-self: end; justify-self: end; display: flex; flex-direction: column; align-items: end; font-size: 11px; line-height: 1.3; padding: 0 6px 2px 0; }
.strip-name { font-size: 11px; align-self: end; writing-mode: vertical-rl; transform: rotate(180deg); padding-top: 4px; }
.strip-name.below { writing-mode: horizontal-tb; transform: none; align-self: start; justify-self: end; padding: 2px 6px 0 0; }
.heat-cells { position: relative; cursor: crosshair; width: max-content; height: max-content; touch-action: manipulation; }
.heat-cells canvas { display: block; } .heat-cells canvas + canvas { position: absolute; inset: 0; }
.heat-cells:focus-visible { outline-offset: 3px; border-radius: 1px; }
.head-figure { gap: 6px; } .strip-legends { display: flex; flex-wrap: wrap; gap: 2px 24px; }
.strip-legend { color: var(--soft); }
.row-words { font-size: 14px; overflow-wrap: anywhere; }
.lists { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px 28px; max-width: 820px; align-items: start; }
.reads-part h2 { overflow-wrap: anywhere; }

.vectors-part .scroll { width: fit-content; max-width: 100%; }
.vectors { border-collapse: separate; border-spacing: 0; font-size: 14px; }
.vectors th, .vectors td { padding: 5px 9px; text-align: right; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--line); }
.vectors thead th { color: var(--soft); font-size: 12px; }
.vectors td { min-width: 86px; } .vectors .more { min-width: 0; }
.vectors .step { position: sticky; left: 0; z-index: 1; background: var(--panel); text-align: left; padding-left: 16px; border-right: 1px solid var(--line); }
.vectors .step span:not(.chip) { display: block; color: var(--soft); font-size: 12px; } .vectors .step b { font-weight: 600; }
.vectors tbody + tbody tr:first-child > * { border-top: 3px double var(--line); }
.vectors tbody:last-child tr:last-child > * { border-bottom: 0; }
.vectors thead .step { border-top-left-radius: 10px; } .vectors tbody:last-child tr:last-child .step { border-bottom-left-radius: 10px; }
.vectors .chip { font-size: 12px; padding: 0 6px; } .vectors .more { color: var(--soft); }

@media (max-width: 859px) {
  .figures-pair { grid-template-columns: minmax(0, 1fr); }
  main.heads { display: flex; } .row-steps > * { order: 0; } .shelved { padding-bottom: 10px; } .shelf .title { padding-bottom: 8px; order: 0; flex-basis: auto; }
  .shelf { order: 1; flex-basis: 100%; flex-wrap: wrap; } .shelf > :first-child { max-width: 100%; }
  .about { flex-wrap: wrap; } .about > p { white-space: normal; overflow-wrap: anywhere; } .readout.pair { height: 80px; } .pair-row { flex-wrap: wrap; } .pair-row .readout { flex-basis: 100%; } .compare { margin-left: 0; }
  .piece { padding: 4px 8px; }
}
@media (max-width: 599px) {
  .head-tools .choice button { padding: 4px 7px; font-size: 12.5px; } .save { gap: 6px 14px; }
  .most bdi { display: none; } .most b { font-size: 10px; letter-spacing: -.03em; }
  .readout.pair { height: 92px; }
  .layer-word { display: none; } .lists { grid-template-columns: minmax(0, 1fr); }
  .vectors td { min-width: 86px; } .vectors .more { min-width: 0; }
.vectors .step { padding-left: 9px; max-width: 132px; white-space: normal; }
}
@media (forced-colors: active) {
  .thumb canvas, .heat canvas { forced-color-adjust: none; }
  .piece.picked { forced-color-adjust: none; background: Highlight; color: HighlightText; }
  .thumb.open .picture { outline-color: Highlight; }
}
`;
