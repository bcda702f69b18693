// How the table of a survey looks: distributions in its cells, and large.

export const SURVEY_CSS = `
.survey .heads-table .spread-cell { min-width: 118px; padding-top: 6px; padding-bottom: 6px; }
.survey .row-open { min-width: 96px; padding: 6px 0; } .survey .heads-table thead .name button { padding-left: 8px; }
.survey .row-open b::after { content: "▸"; display: inline-block; margin-left: 8px; color: var(--soft); font-size: 11px; }
.survey .row-open[aria-expanded=true] b::after { content: "▾"; }
.survey .table-scroll { scroll-padding-top: 92px; }
.survey .heads-table thead button { min-height: 0; padding: 8px 10px 2px; } .survey .heads-table .which { display: block; white-space: nowrap; }
.survey .scale { display: flex; justify-content: space-between; min-height: 17px; padding: 0 10px 4px; font-size: 11px; font-weight: 400; line-height: 13px; }
.survey .spread { display: block; position: relative; height: 30px; margin-top: 2px; border-bottom: 1px solid var(--line); }
.survey .spread i { position: absolute; display: block; }
.survey .histogram { inset: 0 0 9px; background: color-mix(in srgb, var(--focus) 62%, var(--panel)); clip-path: var(--shape); }
.survey .whisker { bottom: 3px; height: 1px; left: var(--least); width: calc(var(--most) - var(--least)); background: var(--edge); }
.survey .quartiles { bottom: 1px; height: 5px; left: var(--quarter); width: max(2px, calc(var(--three) - var(--quarter))); background: var(--edge); border-radius: 1px; }
.survey .middle { bottom: 0; height: 7px; width: 2px; left: calc(var(--median) - 1px); background: var(--ink); }
.survey .key-cell { text-align: left !important; } .survey thead .key-cell { padding: 8px 0 0 !important; } .survey thead .key-cell > span:first-child { display: block; padding: 0 10px 2px; }
.survey thead .key-cell { white-space: normal !important; min-width: 132px; line-height: 1.25; }
.survey .key-cell .token { display: inline-block; max-width: 11em; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; unicode-bidi: isolate; }
.survey .skipped summary { width: max-content; max-width: 100%; } .survey .skipped ul { margin: 6px 0 0; padding-left: 22px; max-height: 12em; overflow: auto; }
.survey .heads-table .large > td { text-align: left; white-space: normal; background: var(--faint); padding: 14px 16px 18px; }
.survey .figures-row { display: flex; flex-wrap: wrap; gap: 18px 30px; position: sticky; left: 16px; max-width: min(1180px, calc(100vw - 100px)); }
.survey .figures-row figure { margin: 0; } .survey .figures-row figcaption { font-weight: 600; margin-bottom: 4px; }
.survey .spread-large { width: 196px; } .survey .spread-large .spread { height: 84px; } .survey .spread-large .histogram { inset: 0 0 12px; }
.survey .spread-large .ends { display: flex; justify-content: space-between; font-size: 12px; }
.survey .spread-large dl { display: grid; grid-template-columns: 1fr auto; gap: 1px 10px; font-size: 13px; margin-top: 6px; }
.survey .spread-large dt { color: var(--soft); } .survey .spread-large dd { text-align: right; }
.survey .bars table { border-collapse: collapse; font-size: 13px; } .survey .heads-table .bars th, .survey .heads-table .bars td { padding: 1px 6px; border: 0; }
.survey .heads-table .bars th { color: var(--soft); } .survey .heads-table .bars .weight { min-width: 120px; padding-bottom: 6px; } .survey .heads-table .bars .weight::before { bottom: 2px; }
@media (max-width: 599px) { .survey .heads-table .spread-cell { min-width: 96px; } .survey .figures-row { max-width: calc(100vw - 64px); } }
@media (forced-colors: active) {
  .survey .spread i { forced-color-adjust: none; } .survey .histogram, .survey .whisker, .survey .quartiles { background: GrayText; } .survey .middle { background: CanvasText; }
}
`;
