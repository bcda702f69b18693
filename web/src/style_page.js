// The page around the figures: colours, layout, words, forms.

/** For the document itself, where the page is ours. */
export const DOCUMENT_CSS = `
html { color-scheme: light dark; background: light-dark(#fbfaf7, #16171a); }
body { margin: 0; }
`;

export const PAGE_CSS = `
:host {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf7, #16171a); --panel: light-dark(#ffffff, #1d1f23);
  --ink: light-dark(#1c1d20, #ececec); --soft: light-dark(#5f6167, #a3a5ab);
  --line: light-dark(#e4e1d9, #33363c); --edge: light-dark(#8a8880, #767a82);
  --focus: light-dark(#0b63ce, #7db4ff); --wash: light-dark(#eef4fc, #1f2a3a);
  --wrong: light-dark(#a3281c, #ff9d8f); --right: light-dark(#2b6a2b, #93d093);
  --faint: light-dark(#f4f1ea, #24262b); --deep: light-dark(#3a1160, #d9bdf7);
  display: block; min-height: 100vh; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums lining-nums;
}
*, *::before, *::after { box-sizing: border-box; }
h2, h3, p, ol, ul, dl, dd { margin: 0; padding: 0; }
h2 { font-size: 13px; font-weight: 600; color: var(--soft); letter-spacing: .01em; }
button, input { font: inherit; color: inherit; font-variant-numeric: inherit; }
button { cursor: pointer; background: none; border: 0; padding: 0; text-align: inherit; }
button[disabled] { cursor: default; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--soft); font-size: 14px; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
.scroll { position: relative; overflow: auto hidden; overscroll-behavior-x: contain; }
.link { color: var(--soft); text-decoration: underline; text-decoration-color: var(--line); text-underline-offset: 3px; }
.link:hover:not([disabled]) { color: var(--ink); text-decoration-color: currentColor; }
.link[disabled] { text-decoration: none; opacity: .5; }
.main, .plain { border: 1px solid var(--edge); border-radius: 7px; padding: 5px 14px; background: var(--panel); }
.main { background: var(--ink); color: var(--paper); border-color: var(--ink); font-weight: 600; }
.main[disabled] { background: none; color: var(--soft); border-color: var(--line); font-weight: 400; }
.plain[disabled] { color: var(--soft); border-color: var(--line); opacity: .6; }
.plain:hover:not([disabled]) { border-color: var(--ink); }
kbd { font: inherit; font-size: 13px; border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; background: var(--panel); }

header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 6px 28px; padding: 18px max(28px, calc(50vw - 652px)) 0; border-bottom: 1px solid var(--line); }
sub { font-size: .75em; line-height: 0; }
header .mark { margin: 0; font-size: 18px; font-weight: 650; letter-spacing: -.01em; padding-bottom: 13px; }
header .title { flex: 0 1 auto; font-size: 17px; min-width: 0; padding-bottom: 13px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
header .acts { margin-left: auto; flex: none; display: flex; gap: 18px; font-size: 13px; align-items: baseline; padding-bottom: 13px; }
header .acts button { color: var(--soft); min-width: 20px; }
header .acts button:hover { color: var(--ink); }
.notice:empty, .waits:empty { display: none; }
.waits { position: sticky; top: 0; z-index: 3; padding: 7px max(28px, calc(50vw - 652px)); border-bottom: 1px solid var(--line); background: var(--panel); color: var(--soft); font-size: 13px; }
.notice { position: fixed; z-index: 3; bottom: 18px; left: 50%; transform: translateX(-50%); width: max-content; max-width: calc(100vw - 32px); padding: 8px 18px; border: 1px solid var(--edge); border-radius: 9px; background: var(--panel); font-size: 14px; }
.offline { max-width: 1264px; margin: 14px auto 0; padding: 10px 16px; border: 1px solid var(--wrong); border-radius: 10px; display: flex; gap: 16px; align-items: center; flex-wrap: wrap; }
.offline p { flex: 1 1 300px; }
.alone { max-width: 34em; margin: 18vh auto 0; padding: 0 24px; font-size: 17px; }

main { display: grid; grid-template-columns: 240px minmax(0, 1fr) 262px; gap: 22px; padding: 26px 28px 12px; max-width: 1360px; margin: auto; align-items: start; }
.left, .center, .right { display: flex; flex-direction: column; gap: 30px; min-width: 0; }
main.wide { grid-template-columns: 268px minmax(0, 1fr) 262px; }
section, nav, article { min-width: 0; display: flex; flex-direction: column; gap: 10px; }
.say { margin-top: 4px; max-width: 17.5em; }
.trouble { color: var(--wrong); font-size: 14px; }
@media (pointer: coarse) { footer, header [data-act=help] { display: none !important; } }
footer { display: flex; flex-wrap: wrap; gap: 4px 18px; max-width: 1360px; margin: auto; padding: 12px 28px 28px; color: var(--soft); font-size: 13px; }

.tools { display: flex; flex-direction: column; gap: 7px; font-size: 13px; color: var(--soft); margin-top: 2px; }
.tools > div { display: flex; flex-wrap: wrap; gap: 5px 14px; align-items: center; }
.stepper { white-space: nowrap; }
.step-by { border: 1px solid var(--line); border-radius: 5px; min-width: 24px; height: 24px; line-height: 20px; text-align: center; background: var(--panel); }
.step-by:hover { border-color: var(--edge); color: var(--ink); }
.pickers { display: flex; flex-direction: column; gap: 6px; font-size: 13px; color: var(--soft); }
.pickers label { display: flex; justify-content: space-between; align-items: center; gap: 10px; }
.pickers input { width: 104px; }
input:not([type=radio]) { border: 1px solid var(--edge); border-radius: 6px; padding: 4px 9px; background: var(--panel); min-width: 0; }
input[aria-invalid=true] { border-color: var(--wrong); }

.contents-part ol { list-style: none; display: flex; flex-direction: column; gap: 3px; }
.contents-part .link { text-decoration: none; padding: 2px 0 2px 10px; border-left: 2px solid var(--line); width: 100%; }
.contents-part .link:hover { border-color: var(--edge); }
.contents-part [aria-current] { color: var(--ink); font-weight: 600; border-color: var(--ink); }
.article-part { border-top: 1px solid var(--line); padding-top: 26px; gap: 14px; }
.article-part > p { max-width: 66ch; line-height: 1.6; }
h2.headline:focus-visible { outline: none; }
h2.headline { scroll-margin-top: 20px; font-size: 19px; font-weight: 650; color: var(--ink); letter-spacing: -.01em; }
.turns { display: flex; gap: 18px; align-items: baseline; font-size: 14px; }
.figures { border-collapse: collapse; font-size: 14px; margin: 4px 0; }
.figures caption { text-align: left; color: var(--soft); font-size: 13px; padding-bottom: 6px; }
.figures th, .figures td { padding: 5px 14px 5px 0; text-align: right; font-weight: 400; border-bottom: 1px solid var(--line); vertical-align: bottom; }
.figures thead th { color: var(--soft); font-size: 13px; }
.figures th:first-child { text-align: left; }
.figures td:not(:first-child), .figures th:not(:first-child) { padding-left: 8px; }
.recap { padding-left: 20px; display: flex; flex-direction: column; gap: 7px; font-size: 14px; }
.recap li::marker { color: var(--soft); }

.checklist ul { list-style: none; display: flex; flex-direction: column; }
.skill { display: flex; gap: 10px; align-items: baseline; width: 100%; padding: 4px 8px; border-radius: 7px; font-size: 14px; }
.skill:hover { background: var(--faint); }
.skill[aria-current] { background: var(--faint); font-weight: 600; }
.box { flex: none; width: 17px; height: 17px; line-height: 15px; border: 1px solid var(--edge); border-radius: 4px; text-align: center; font-size: 13px; background: var(--panel); }
.skill[data-done=true] .box { background: var(--ink); border-color: var(--ink); color: var(--paper); }
.checklist .quiet { padding: 6px 8px 0; }
.turn { padding: 14px 16px; }
.turn form { display: flex; flex-direction: column; gap: 11px; }
.given { display: flex; flex-direction: column; gap: 4px; font-size: 14px; }
.given div { display: flex; flex-wrap: wrap; gap: 0 9px; align-items: baseline; }
.given dt { color: var(--soft); font-size: 13px; }
.given dd { overflow-wrap: anywhere; }
.fields { display: flex; flex-direction: column; gap: 6px; }
.fields label { display: flex; gap: 10px; justify-content: space-between; align-items: center; font-size: 14px; }
.fields input { width: 96px; flex: none; }
.choices { display: flex; flex-direction: column; gap: 9px; font-size: 14px; }
.choices label { display: flex; gap: 9px; align-items: baseline; }
.choices input { flex: none; accent-color: var(--ink); }
.answer { display: flex; gap: 16px; align-items: baseline; font-size: 14px; }
.verdict { border-left: 3px solid var(--line); padding: 2px 0 2px 12px; font-size: 14px; display: flex; flex-direction: column; gap: 8px; align-items: start; }
.verdict.right { border-color: var(--right); } .verdict.right b { color: var(--right); }
.verdict.wrong { border-color: var(--wrong); } .verdict.wrong b { color: var(--wrong); }
.right-step { list-style: none; display: flex; flex-direction: column; gap: 3px; overflow-wrap: anywhere; }
.turn .quiet { font-size: 13px; } summary { cursor: pointer; width: max-content; }

dialog { border: 1px solid var(--line); border-radius: 12px; background: var(--panel); color: var(--ink); max-width: min(560px, calc(100vw - 32px)); padding: 22px 26px; }
dialog::backdrop { background: rgb(0 0 0 / .35); }
dialog h2 { font-size: 17px; color: var(--ink); margin-bottom: 12px; }
dialog table { border-collapse: collapse; font-size: 14px; width: 100%; }
dialog th, dialog td { text-align: left; font-weight: 400; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
dialog th { white-space: nowrap; } dialog h2 + table { margin-bottom: 18px; } dialog h2:focus-visible { outline: none; }
dialog textarea { width: min(500px, 76vw); height: 260px; font: 13px/1.5 ui-monospace, monospace; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 10px; }
dialog form { margin-top: 16px; }

@media (max-width: 1179px) {
  main, main.wide { grid-template-columns: minmax(0, 1fr) 262px; }
  .left { grid-column: 1 / -1; flex-direction: row; flex-wrap: wrap; gap: 30px 48px; }
  .say { max-width: 30em; }
  main:has(.stacked > tbody:nth-of-type(6)) .left { order: 1; }
}
@media (max-width: 859px) {
  header { padding: 14px 16px 0; } header .mark, header .title, header .acts { padding-bottom: 10px; }
  header .own { order: 1; flex-basis: 100%; }
  main { display: flex; flex-direction: column; align-items: stretch; gap: 28px; padding: 18px 16px 8px; }
  .left, .center, .right { display: contents; }
  .tokens-part { order: 1; } .ledger-part { order: 2; } .layer-part { order: 3; } .grid-part { order: 4; }
  main:has(.stacked > tbody:nth-of-type(6)) .tokens-part { order: 4; }
  .turn-part { order: 5; } .contents-part { order: 6; } .article-part { order: 7; } .recap-part { order: 8; }
  footer { padding-left: 16px; padding-right: 16px; } .offline { margin: 14px 16px 0; }
  .step-by { min-width: 32px; height: 32px; } .skill { padding: 7px 8px; }
}
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
}
@media (forced-colors: active) {
  .main, .step-by, .box { border: 1px solid ButtonText; }
  .skill[data-done=true] .box { forced-color-adjust: none; background: CanvasText; color: Canvas; }
}
`;
