--- Holds the style sheet of pages, which are light or dark as the reader's system is, and narrow or
-- wide as the window is. Tables and pictures that are wider than it scroll by themselves.

local palette = require "ladies.report.palette"
local presentation = require "ladies.report.presentation"

local STYLE = [[
:root {
  color-scheme: light dark;
  LIGHT
  --page: #f6f7f9;
  --fault: #b3261e; --fault-back: #fdecea; --warning: #8a5300; --warning-back: #fff4e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    DARK
    --page: #14171a;
    --fault: #ff9d94; --fault-back: #3a1f1d; --warning: #f5c26b; --warning-back: #33280f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .5rem 0; }
.soft, figcaption small, td small { color: var(--soft); }
.cards { display: grid; gap: 1rem; margin-top: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.brief { grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); }
article, figure, details, .table { background: var(--card); border: 1px solid var(--line);
  border-radius: .6rem; }
article { padding: 1rem 1.1rem; border-top: .3rem solid currentColor; overflow-wrap: anywhere; }
article > * { color: var(--ink); }
article h2 { margin: 0 0 .4rem; }
article .soft { color: var(--soft); font-size: .875rem; }
.fault, .warning { margin: .75rem 0; padding: .6rem .8rem; border-left: .25rem solid;
  border-radius: .3rem; font-size: .925rem; }
article .fault { color: var(--fault); background: var(--fault-back); }
article .warning { color: var(--warning); background: var(--warning-back); }
.fault p, .warning p { color: var(--ink); }
.table { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .8rem; text-align: right; vertical-align: top; white-space: nowrap;
  border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--soft); font-weight: 600; font-size: .875rem;
  vertical-align: bottom; white-space: normal; overflow-wrap: anywhere; min-width: 8.5rem; }
.words { text-align: left; }
th:first-child { text-align: left; font-weight: 500; white-space: normal; min-width: 13rem; }
td small, th small { display: block; font-weight: 400; font-size: .82rem; }
th small { color: var(--soft); max-width: 34rem; }
.figures { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
figure { margin: 0; padding: .9rem; overflow-x: auto; }
figcaption { font-weight: 600; margin-bottom: .4rem; overflow-wrap: anywhere; }
.key { list-style: none; margin: .4rem 0 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: .2rem 1rem; font-size: .875rem; }
.wide { grid-column: 1 / -1; }
.key span { color: var(--ink); }
.key svg { width: 1.75rem; height: 1rem; margin-right: .35rem; flex: none; }
.key li { display: flex; align-items: center; overflow-wrap: anywhere; }
.dot::before { content: ""; display: inline-block; width: .7rem; height: .7rem;
  border-radius: 50%; margin-right: .4rem; background: var(--own, currentColor); }
details { margin: 1rem 0; padding: .2rem 1.1rem 1rem; }
details:not([open]) { padding-bottom: .2rem; }
summary { cursor: pointer; font-weight: 600; padding: .6rem 0; overflow-wrap: anywhere; }
details .table { border-color: var(--line); }
svg.chart { display: block; width: 100%; min-width: 20rem; height: auto; }
svg.bar { width: 7.5rem; height: .9rem; vertical-align: middle; }
PICTURES@media (max-width: 34rem) {
  main { padding: 1rem .7rem 2rem; }
  th, td { padding: .4rem .5rem; }
  th:first-child { min-width: 9.5rem; }
  thead th { min-width: 5rem; }
  figure:not(.wide) svg text { font-size: 15px; }
  details { padding: .2rem .6rem .6rem; }
}
@media print { details { break-inside: avoid; } }
]]

return (STYLE:gsub("%u%u+", {LIGHT = palette.LIGHT, DARK = palette.DARK,
  PICTURES = presentation.rules "svg" .. palette.classes ""}))
