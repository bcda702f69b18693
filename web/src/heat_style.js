// How grids, their axes, legends and lists look. One more sheet beside style_page and
// style_figures.

export const HEAT_CSS = `
.heat-axis { position: relative; font-size: 11px; line-height: 1; color: var(--soft); }
.heat-axis.rows { height: var(--length); width: var(--names, 96px); }
.heat-axis.keys { width: var(--length); height: var(--above, 96px); }
.heat-label { position: absolute; display: flex; align-items: center; gap: 3px; white-space: pre; border-radius: 3px; font-size: 11px; line-height: 1; }
.heat-label bdi { overflow: hidden; text-overflow: ellipsis; min-inline-size: 0; padding-block: 1px; }
.heat-label small { flex: none; font-size: 9.5px; opacity: .85; }
.rows > .heat-label { top: calc(var(--at) + var(--cell) / 2 - 7px); right: 0; height: 14px; max-width: 100%; justify-content: flex-end; padding: 0 6px 0 2px; }
.keys > .heat-label { left: calc(var(--at) + var(--cell) / 2 - 7px); bottom: 0; width: 14px; max-height: 100%; writing-mode: vertical-rl; transform: rotate(180deg); padding: 6px 0 2px; }
.sparse.rows > .heat-label::after { content: ""; position: absolute; right: 0; top: 50%; width: 4px; border-top: 1px solid currentColor; }
.sparse.keys > .heat-label::after { content: ""; position: absolute; left: 50%; top: 0; height: 4px; border-left: 1px solid currentColor; }
button.heat-label:hover, .heat-label.hover { color: var(--ink); background: var(--faint); z-index: 1; }
.heat-label.picked { color: var(--ink); font-weight: 650; }
.heat-label.padding, .chip.padding { opacity: .7; font-style: italic; } .written bdi { text-decoration: underline dotted; text-underline-offset: 2px; } .keys > .written bdi { padding-block: 3px; text-underline-offset: 0; }
.heat-label.sink { font-style: italic; }
.heat-label:focus-visible { outline-offset: 0; z-index: 1; }

.heat-legend { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 16px; color: var(--soft); font-size: 12px; }
.heat-scale { display: inline-flex; align-items: center; gap: 8px; white-space: nowrap; }
.heat-ramp { width: 120px; flex: none; height: 9px; border-radius: 2px; background: var(--ramp); }
.heat-swatch { display: inline-flex; align-items: center; gap: 5px; }
.heat-swatch i { width: 14px; height: 12px; border-radius: 2px; background: var(--fill); }
.heat-swatch i.hidden { background: repeating-linear-gradient(135deg, var(--fill) 0 3px, var(--hatch) 3px 4px); }
.strip-legend { font-size: 12px; }

.reads { border-collapse: collapse; width: 100%; font-size: 13px; table-layout: fixed; }
.reads th, .reads td { height: 26px; font-weight: 400; padding: 2px 6px; text-align: right; white-space: nowrap; }
.reads thead th { color: var(--soft); font-size: 12px; padding-bottom: 4px; }
.reads th[scope=row], .reads thead th:first-child { text-align: left; padding-left: 0; width: 42%; overflow: hidden; }
.reads tbody tr:nth-child(odd) > * { background: color-mix(in srgb, var(--faint) 60%, transparent); }
.reads th .chip { max-width: 100%; overflow: hidden; font-size: 12px; padding: 0 6px; } .reads .sink { font-style: italic; padding-left: 6px; }
.reads .weight { position: relative; isolation: isolate; }
.reads .weight::before { content: ""; position: absolute; z-index: -1; left: 0; top: 4px; bottom: 4px; width: calc(100% * var(--w)); background: color-mix(in srgb, var(--focus) 24%, transparent); border-radius: 2px; }
.reads .so-far, .reads-rest { color: var(--soft); font-size: 12.5px; }

@media (pointer: coarse) { .reads th, .reads td { padding-top: 6px; padding-bottom: 6px; } }
@media (forced-colors: active) {
  .heat-ramp, .heat-swatch i { forced-color-adjust: none; } .heat-label.picked { outline: 1px solid Highlight; }
  .reads .weight::before { background: none; border: solid CanvasText; border-width: 0 0 2px; }
}
`;
