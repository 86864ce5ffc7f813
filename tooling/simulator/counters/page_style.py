"""The look of the profile's page, light and dark; no font, script or picture comes from elsewhere."""

PALETTE = """
:root {
  color-scheme: light;
  --paper: #fcfcfa; --panel: #f3f4f1; --line: #d8dbd4; --ink: #1c232b; --soft: #515b66; --accent: #0b6b62;
  --still: #e9ebe6; --bad: #9b2c2c; --bad-soft: #fae4e1;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Apple SD Gothic Neo", Pretendard,
    "Noto Sans KR", "Noto Sans CJK KR", "Malgun Gothic", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono",
    "Noto Sans Mono CJK KR", monospace;
}
:root[data-theme="dark"] {
  color-scheme: dark;
  --paper: #12171d; --panel: #1a2129; --line: #323d49; --ink: #dde4ea; --soft: #a2aeba; --accent: #63cdbb;
  --still: #242d37; --bad: #f3a59c; --bad-soft: #3d2124;
}
"""
"""Colours and fonts of the pages that the tool writes, light and dark (`data-theme` of the root)."""

STYLE = (
    f"""{PALETTE}
:root {{
  --moved: #fdeeca; --moved-line: #d9b45c;
  --good: #14683a; --good-soft: #dff2e4; --warn: #7a4d00; --warn-soft: #fdf0d2;
}}
:root[data-theme="dark"] {{
  --moved: #453713; --moved-line: #8a6d22;
  --good: #7bd49a; --good-soft: #173325; --warn: #edc275; --warn-soft: #372c14;
}}
"""
    + """* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.6rem 1.25rem 4rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.6 var(--text); }
:lang(ko) { word-break: keep-all; }
header { display: flex; align-items: baseline; gap: 1rem; justify-content: space-between; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.25rem; margin: 2.6rem 0 0; }
h3 { font-size: 1rem; margin: 1.8rem 0 .6rem; color: var(--soft); font-weight: 600; }
code, td.source, .where { font-family: var(--mono); font-size: .86em; }
button { font: inherit; font-size: .85rem; color: var(--soft); background: var(--panel); cursor: pointer;
  border: 1px solid var(--line); border-radius: 6px; padding: .15rem .7rem; }
.shape { color: var(--soft); margin: .1rem 0 1rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .7rem; }
.tile { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .7rem .9rem; }
.tile b { display: block; font-size: 1.55rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tile span { display: block; font-size: .88rem; line-height: 1.35; }
.tile small { display: block; color: var(--soft); font-size: .78rem; margin-top: .25rem; line-height:
  1.35; }
.good b { color: var(--good); } .warn b { color: var(--warn); } .bad b { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 500; color: var(--soft); padding: .2rem .45rem; vertical-align: bottom;
  line-height: 1.25; }
td { text-align: right; padding: .16rem .45rem; border-top: 1px solid var(--line); white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
td.source { white-space: pre; max-width: 18rem; overflow: hidden; text-overflow: ellipsis; }
td a { color: var(--accent); text-decoration: none; } td a:hover { text-decoration: underline; }
tfoot td { font-weight: 600; border-top: 2px solid var(--line); }
.pill { border-radius: 99px; padding: .05rem .55rem; }
.pill.good { background: var(--good-soft); color: var(--good); }
.pill.warn { background: var(--warn-soft); color: var(--warn); }
.pill.bad { background: var(--bad-soft); color: var(--bad); }
figure { margin: 0 0 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: .85rem 1rem 1rem; }
figure:target { border-color: var(--accent); }
figcaption { display: flex; flex-wrap: wrap; gap: .1rem .8rem; align-items: baseline; }
figcaption .what { font-weight: 600; } .where { color: var(--accent); } figure code { color: var(--ink); }
.verdict { margin: .25rem 0 .55rem; max-width: 52rem; }
.verdict::before { content: ""; display: inline-block; width: .6em; height: .6em; border-radius: 50%;
  margin-right: .5em; background: currentColor; }
.verdict.good::before { color: var(--good); } .verdict.bad::before { color: var(--bad); }
.verdict.warn::before { color: var(--warn); }
.facts { color: var(--soft); font-size: .82rem; margin: .45rem 0 0; }
.legend { color: var(--soft); font-size: .85rem; margin: 0 0 .9rem; max-width: 56rem; }
.legend .scale { vertical-align: -1px; margin: 0 .3rem; border-radius: 3px; }
.legend i { display: inline-block; width: 1.1em; height: .8em; border-radius: 3px; vertical-align: -1px;
  background: var(--moved); border: 1px solid var(--moved-line); margin: 0 .25rem 0 .8rem; }
svg text { font: 11px var(--text); fill: var(--soft); }
svg .axis { font-size: 10px; text-anchor: middle; font-variant-numeric: tabular-nums; }
svg .end { text-anchor: end; }
svg .lane { fill: #fff; text-anchor: middle; font-size: 10.5px; font-weight: 600; }
svg .moved { fill: var(--moved); stroke: var(--moved-line); } svg .word { stroke: var(--moved-line);
  opacity: .45; }
svg .still { fill: var(--still); } svg .first { fill: var(--still); } svg .again { fill: var(--bad-soft); }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; border-top: 1px solid var(--line);
  padding-top: .8rem; } footer p { margin: .3rem 0; }
@media print { button { display: none; } figure { break-inside: avoid; } }
"""
)

SCRIPT = """
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => { root.dataset.theme = dark.matches ? "dark" : "light"; };
follow();
dark.addEventListener("change", follow);
document.querySelector("button").addEventListener("click", () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
});
"""
