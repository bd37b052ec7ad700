/** The style of the page: light and dark mode, narrow and wide screens, and paper. Nothing is fetched. */

export const STYLE = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b2330;--soft:#5b6676;--line:#dfe3ea;--good:#14703f;--good-bg:#ddf3e6;
--bad:#a8281f;--bad-bg:#fbe3e0;--band:#dcecdf;--c0:#2257c4;--c1:#c2571a;--c2:#6b7c2e;--c3:#8a4bb0;--c4:#0f7f86;--c5:#a0356a}
@media (prefers-color-scheme:dark){:root{--page:#11151c;--card:#191f29;--ink:#e6eaf1;--soft:#9aa6b8;--line:#2d3644;--good:#7fdca6;--good-bg:#173526;
--bad:#ff9d93;--bad-bg:#43201d;--band:#1d3527;--c0:#7aa7ff;--c1:#f5a064;--c2:#b9cc6a;--c3:#cf9df0;--c4:#5fd0d6;--c5:#f08cb8}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:26px;line-height:1.2;margin:0 0 6px}
h2{font-size:19px;line-height:1.3;margin:44px 0 4px}
p{margin:4px 0 14px;max-width:76ch}
.soft{color:var(--soft)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,monospace}
.notice{background:var(--bad-bg);color:var(--bad);border-radius:8px;padding:10px 14px;margin:16px 0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,220px),1fr));gap:10px;margin:18px 0 0;padding:0}
.facts div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 14px;min-width:0}
.facts dt{color:var(--soft);font-size:12.5px}
.facts dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:14px;margin:12px 0 16px}
.chart{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px 10px;min-width:0}
.chart.wide{max-width:600px;margin:12px 0}
.chart>svg{display:block;width:100%;height:auto}
figcaption{display:flex;justify-content:space-between;gap:12px;margin-bottom:6px}
.unit{color:var(--soft);font-size:13px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:4px 0 0;padding:0;font-size:13px;color:var(--soft)}
.legend li{display:flex;align-items:center;gap:6px}
.swatch{width:22px;height:10px;flex:none}
svg text{fill:var(--soft);font-size:12.5px;font-family:inherit}
svg .row-name{fill:var(--ink)}
.grid{stroke:var(--line);stroke-width:1}.axis,.mark{stroke:var(--soft);stroke-width:1}
.line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}.dashed{stroke-dasharray:5 5}
.area{stroke:none;opacity:.13}.dot{stroke:var(--card);stroke-width:1}
.limit{stroke:var(--bad);stroke-width:1.3;stroke-dasharray:3 4}svg .limit-label{fill:var(--bad)}
.band{fill:var(--band)}.span{stroke:var(--c0);stroke-width:4;stroke-linecap:round;opacity:.55}.ring{fill:var(--card);stroke:var(--c0);stroke-width:2.2}
${[0, 1, 2, 3, 4, 5].map((n) => `.line.c${n}{stroke:var(--c${n})}.area.c${n},.dot.c${n}{fill:var(--c${n})}`).join('')}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px;margin:12px 0}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:6px 12px;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0;color:var(--soft);font-weight:600;font-size:13px;white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td:has(>.verdict){width:1%}.where{color:var(--soft);font-size:13px;margin-left:6px}td.ratio{color:var(--soft)}
tr.group th{background:var(--page);font-size:13px}
.verdict{display:inline-block;border-radius:99px;padding:0 10px;font-size:13px;font-weight:600;white-space:nowrap}
.met{background:var(--good-bg);color:var(--good)}.missed{background:var(--bad-bg);color:var(--bad)}
@media (max-width:560px){.facts{grid-template-columns:1fr 1fr}main{padding:20px 12px 40px}th,td{padding:5px 8px}body{font-size:14.5px}table{font-size:13px}thead th.n{white-space:normal}.where{display:block;margin:0}svg text{font-size:14.5px}}
@media print{body{background:#fff}.chart,.scroll{break-inside:avoid}}
`;
