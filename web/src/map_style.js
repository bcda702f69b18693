// How the map view looks.

export const MAP_CSS = `
main.map { grid-template-columns: minmax(0, 1fr); gap: 18px 24px; padding-top: 14px; }
main.map-beside { grid-template-columns: minmax(0, 1fr) 286px; }
.map-beside .row-steps { grid-column: 1; } .map-beside .map-side { grid-area: 1 / 2 / span 2; }
.map-beside { grid-template-rows: auto 1fr; }
.map .headline { font-size: 19px; } .map-part { gap: 10px; }
.map-pickers { display: flex; flex-wrap: wrap; gap: 6px 16px; margin-left: auto; }
.map-pickers .compare { margin-left: 0; }
.map-tools { gap: 8px 18px; } .map-tools .link { font-size: 13px; }
.map-tools [data-act=map-zoom] { min-width: 30px; text-align: center; }
.map-going { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; font-size: 13px; color: var(--soft); }
.map-going input { width: 15em; color: var(--ink); } .map-going .trouble { flex-basis: 100%; }
.map .pair-row { align-items: stretch; } .map .readout.pair { user-select: text; overflow-wrap: anywhere; min-width: 0; }
.map .readout.locked { border-color: var(--mark); }
.read-acts { display: flex; flex-direction: column; justify-content: space-around; flex: none; font-size: 13px; line-height: 1.2; }
.map { --mark: light-dark(#e0218a, #ff7ac0); }

.map-figure { display: grid; grid-template-columns: var(--names) var(--width) var(--strip); grid-template-rows: var(--above) var(--height) var(--strip); gap: 3px; width: max-content; max-width: 100%; }
.map-figure canvas { display: block; }
.map-figure .heat-corner { padding-bottom: 4px; }
.map-labels { cursor: pointer; }
.map-cells { position: relative; width: var(--width); height: var(--height); cursor: crosshair; touch-action: none; overflow: hidden; user-select: none; outline: 1px solid var(--line); }
.map-cells canvas { position: absolute; inset: 0; }
.map-cells:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 1px; }
.map-figure .strip-name { padding: 0; }

.map-under { display: flex; flex-direction: column; gap: 7px; }
.map-progress { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; min-height: 30px; } .map-progress p { font-size: 13px; overflow-wrap: anywhere; }
.map-progress .plain { font-size: 13px; padding: 2px 12px; } .map-scale { color: var(--ink); }
.map-legend { gap: 4px 16px; }
.map-legend .heat-ramp { width: 170px; }
.heat-swatch i.map-hidden, .heat-swatch i.map-NaN { background: var(--fill); }
.heat-swatch i.map-unknown { border: 1px solid var(--line); background: repeating-linear-gradient(45deg, var(--fill) 0 3px, var(--hatch) 3px 4.5px); }
.map-range { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 9px; font-size: 12px; color: var(--soft); }
.map-range output { min-width: 3.4em; text-align: center; color: var(--ink); }
.two-ended { position: relative; width: 190px; height: 22px; display: inline-block; }
.two-ended::before { content: ""; position: absolute; left: 8px; right: 8px; top: 9px; height: 4px; border-radius: 2px; background: linear-gradient(90deg, var(--line) var(--low), var(--edge) var(--low) var(--high), var(--line) var(--high)); }
.two-ended input { position: absolute; inset: 0; width: 100%; height: 22px; margin: 0; padding: 0; border: 0; background: none; appearance: none; -webkit-appearance: none; pointer-events: none; }
.two-ended input::-webkit-slider-runnable-track { background: none; }
.two-ended input::-webkit-slider-thumb { -webkit-appearance: none; pointer-events: auto; width: 16px; height: 16px; border-radius: 50%; border: 1px solid var(--edge); background: var(--panel); cursor: ew-resize; }
.two-ended input::-moz-range-thumb { pointer-events: auto; width: 14px; height: 14px; border-radius: 50%; border: 1px solid var(--edge); background: var(--panel); cursor: ew-resize; }
.two-ended input::-moz-range-track { background: none; }
.two-ended input:focus-visible { outline: none; } .two-ended input:focus-visible::-webkit-slider-thumb { outline: 2px solid var(--focus); outline-offset: 1px; }
.two-ended input:focus-visible::-moz-range-thumb { outline: 2px solid var(--focus); }

.map-side { display: flex; flex-direction: column; gap: 18px; min-width: 0; }
.map-mini { width: var(--width); height: var(--height); cursor: move; touch-action: none; outline: 1px solid var(--line); } .map-mini canvas { display: block; }
.map-marks ol { list-style: none; display: flex; flex-direction: column; gap: 4px; font-size: 13px; }
.map-marks li { display: flex; gap: 8px; align-items: baseline; justify-content: space-between; } .map-marks li .link { min-width: 0; overflow-wrap: anywhere; }
.map-tour .reads th[scope=row], .map-tour .reads thead th:first-child { width: 72%; } .map-tour .link { font-size: 13px; max-width: 100%; text-align: left; line-height: 1.3; padding: 2px 0; }
.map-tour .link span { display: block; white-space: nowrap; } .map-tour .link small { display: block; color: var(--soft); overflow: hidden; text-overflow: ellipsis; } .map-tour [aria-current] { color: var(--ink); font-weight: 600; }
.map-side .reads .weight::before { top: auto; bottom: 1px; height: 3px; background: color-mix(in srgb, var(--focus) 55%, transparent); }
.map-side .reads-part > .quiet, .extremes .means { font-size: 12.5px; }
.map-lists { display: flex; flex-direction: column; gap: 20px; }
.map-lists h2 { overflow-wrap: anywhere; }
.map-lists .reads th[scope=row], .map-lists .reads thead th:first-child { width: 44%; }

@media (max-width: 1079px) {
  .map-side { flex-flow: row wrap; align-items: flex-start; gap: 20px 32px; } .map-side > * { flex: 1 1 240px; } .map-side .map-mini-part { flex: none; }
}
@media (max-width: 859px) {
  main.map { display: flex; } .map-pickers { margin-left: 0; }
  .map .pair-row { flex-direction: column; gap: 6px; } .map .pair-row .readout { flex-basis: auto; } .read-acts { flex-direction: row; justify-content: flex-start; gap: 18px; }
}
@media (max-width: 599px) {
  header .acts { flex: 0 1 auto; flex-wrap: wrap; gap: 6px 12px; }
  .map-tools { gap: 8px 12px; } .map-going input { width: 11em; } .map .readout.pair { height: 118px; }
}
@media (pointer: coarse) { .map-tools .link, .read-acts .link { padding: 6px 0; } .two-ended input::-webkit-slider-thumb { width: 24px; height: 24px; } }
@media (forced-colors: active) { .map canvas, .map .heat-swatch i { forced-color-adjust: none; } .two-ended::before { background: CanvasText; } }
`;
