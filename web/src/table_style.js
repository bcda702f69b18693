// How the table of all heads looks, and the extremes beside the map.

export const TABLE_CSS = `
main.table-view { grid-template-columns: minmax(0, 1fr); }
.table-part { gap: 12px; }
.table-view .titled h2 { font-size: 19px; color: var(--ink); font-weight: 650; letter-spacing: -.01em; }
.table-tools { flex-wrap: wrap; } .table-tools .compare { margin-left: 0; } .table-tools input { width: 64px; padding: 1px 6px; }
.table-progress { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; min-height: 24px; font-size: 14px; }
.table-progress progress { width: 220px; height: 8px; appearance: none; -webkit-appearance: none; border: 0; border-radius: 4px; overflow: hidden; background: var(--line); }
.table-progress progress::-webkit-progress-bar { background: var(--line); }
.table-progress progress::-webkit-progress-value { background: var(--focus); }
.table-progress progress::-moz-progress-bar { background: var(--focus); }
.table-scroll { overflow: auto; max-height: max(420px, calc(100vh - 226px)); overscroll-behavior: contain; scroll-padding: 64px 0 8px 190px; }
.heads-table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 14px; }
.heads-table th, .heads-table td { padding: 3px 10px; text-align: right; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--line); }
.heads-table tbody tr:last-child > * { border-bottom: 0; }
.heads-table thead th { position: sticky; top: 0; z-index: 2; background: var(--panel); color: var(--soft); font-size: 13px; padding: 0; vertical-align: bottom; }
.heads-table thead button { display: flex; align-items: flex-end; justify-content: flex-end; width: 100%; min-height: 56px; padding: 8px 10px; white-space: normal; text-align: right; line-height: 1.25; }
.heads-table thead button:hover { color: var(--ink); background: var(--faint); }
.heads-table thead [aria-sort] button { color: var(--ink); font-weight: 600; }
.heads-table thead .whole { white-space: nowrap; } .heads-table thead small { font-size: 11px; font-weight: 400; } .heads-table thead .way { font-style: normal; font-size: 10px; }
.heads-table thead button:focus-visible { outline-offset: -2px; }
.heads-table .name { position: sticky; left: 0; z-index: 1; background: var(--panel); text-align: left; border-right: 1px solid var(--line); padding-left: 8px; }
.heads-table thead .name { z-index: 3; padding-left: 0; } .heads-table thead .name button { justify-content: flex-start; text-align: left; padding-left: 68px; }
.row-open { display: flex; align-items: center; gap: 12px; width: 100%; min-width: 150px; border-radius: 4px; }
.row-open .picture { flex: none; display: grid; place-items: center; width: 48px; height: 48px; background: var(--faint); border-radius: 2px; }
.row-open canvas { display: block; }
.row-open .words { display: flex; flex-direction: column; line-height: 1.3; min-width: 0; }
.row-open bdi { max-width: 13em; overflow: hidden; text-overflow: ellipsis; color: var(--soft); font-size: 13px; } .row-open b { font-weight: 600; }
.row-open:hover b { text-decoration: underline; text-underline-offset: 3px; }
.heads-table tbody tr:hover > * { background: color-mix(in srgb, var(--faint) 70%, var(--panel)); }
.heads-table .weight { position: relative; isolation: isolate; min-width: 82px; }
.heads-table .weight::before { content: ""; position: absolute; z-index: -1; left: 6px; right: 6px; bottom: 9px; height: 3px; border-radius: 2px; background: linear-gradient(90deg, color-mix(in srgb, var(--focus) 60%, transparent) calc(100% * var(--w)), var(--line) 0); }
.heads-table .refused { text-align: left; white-space: normal; max-width: 60ch; }
.heads-table .kinds-cell { text-align: left; width: 176px; } .heads-table thead .kinds-cell { padding: 8px 10px; }
.kinds { display: flex; width: 150px; height: 14px; border-radius: 3px; overflow: hidden; background: var(--line); }
.kinds i { width: calc(100% * var(--w)); }
i.kind { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px; }
.kind-first-token { background: light-dark(#0072b2, #3b9ede); } .kind-special { background: #56b4e9; }
.kind-punctuation { background: #e69f00; } .kind-spaces { background: #cc79a7; } .kind-words { background: light-dark(#009e73, #29b58c); }
.table-note { font-size: 13px; }

.extremes { gap: 8px; } .extremes details { font-size: 14px; } .extremes summary { padding: 3px 0; width: auto; }
.extremes summary:hover { text-decoration: underline; text-underline-offset: 3px; }
.extremes .reads { margin: 2px 0 8px; } .extremes .reads th[scope=row], .extremes .reads thead th:first-child { width: 44%; }
.extremes .quiet { font-size: 13px; }

@media (max-width: 859px) {
  .table-scroll { max-height: none; overscroll-behavior-y: auto; }
  .row-open { min-width: 0; } .heads-table thead .name button { padding-left: 8px; }
}
@media (max-width: 599px) {
  .row-open { flex-direction: column; align-items: flex-start; gap: 2px; padding: 4px 0; } .row-open bdi { max-width: 86px; }
  .table-progress progress { width: 120px; }
}
@media (forced-colors: active) {
  .row-open canvas, .kinds i, i.kind { forced-color-adjust: none; }
  .heads-table .weight::before { background: none; border-bottom: 2px solid CanvasText; width: calc((100% - 12px) * var(--w)); right: auto; }
}
`;
