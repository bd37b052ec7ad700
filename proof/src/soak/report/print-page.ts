/** One self-contained page with a chart of every series. Pure. */
import { createAxis } from '../../../../bench/dist/report/axis.js';
import { asText, chart, type Series as Line, legend } from '../../../../bench/dist/report/chart.js';
import { STYLE } from '../../../../bench/dist/report/style.js';
import { growing, type JudgedSeries, type SoakReport } from '../judge/judge-soak.ts';
import {
  amount,
  conclusion,
  growthOf,
  hasSlopes,
  howJudged,
  perHour,
  remarkOn,
  VERDICTS,
  workRows,
} from './words.ts';

const [SERIES, WARM_UP, TREND] = [0, 1, 5];
const LEGEND = [
  { name: 'warm-up', colour: WARM_UP },
  { name: 'judged', colour: SERIES },
  { name: 'trend', colour: TREND, isDashed: true },
];
const UNITS = { MB: 'MB', count: 'number', ms: 'ms' } as const;

export function printSoakPage(report: SoakReport, at: Date): string {
  const moved = report.series.filter(hasMoved);
  const remark = remarkOn(report.errors);
  const groups = [...new Set(moved.map(({ group }) => group))];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Lingua Scheduler: soak</title><style>${STYLE}${OWN}</style></head><body><main>
<h1>Lingua Scheduler: soak</h1>
<p class="soft">${asText(at.toISOString().replace('T', ' ').slice(0, 16))} UTC · <code>${asText(report.replay)}</code></p>
${outcome(report)}${remark === undefined ? '' : `<p class="soft names">${asText(remark)}</p>`}
<dl class="facts">${workRows(report.work)
    .map(([name, count]) => `<div><dt>${asText(name)}</dt><dd>${count}</dd></div>`)
    .join('')}</dl>
<h2>How it is judged</h2><p class="soft">${asText(howJudged(report))}</p>
${legend(LEGEND)}
${groups.map((group) => section(group, moved, report)).join('\n')}
${unmoved(report)}
</main></body></html>
`;
}

const hasMoved = ({ points }: JudgedSeries): boolean =>
  points.some(({ value }) => value !== points[0]?.value);

function unmoved({ series }: SoakReport): string {
  const rows = series
    .filter((each) => !hasMoved(each))
    .map(({ group, name, unit, judgement }) => {
      const value = amount(judgement.highest, unit);
      return `<tr><td>${asText(group)}</td><td>${asText(name)}</td><td class="n">${value}</td></tr>`;
    });
  if (rows.length === 0) return '';
  return `<h2>Never moved</h2><div class="scroll still"><table><tbody>${rows.join('')}</tbody></table></div>`;
}

/** In addition to the style that all pages of this project share. */
const OWN = `
.passed{background:var(--good-bg);color:var(--good);border-radius:8px;padding:10px 14px;margin:16px 0;font-weight:600;max-width:none}
.notice{max-width:none}.notice li{margin:2px 0}
.told{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 12px;padding:0 14px 10px;font-size:13px;color:var(--soft)}
main{max-width:1420px}.plain{background:var(--line);color:var(--soft)}.still{max-width:640px}
.cell{min-width:0;background:var(--card);border:1px solid var(--line);border-radius:10px;break-inside:avoid}.cell .chart{border:0;padding-bottom:0}.cell .legend{display:none}
`;

function outcome(report: SoakReport): string {
  const { series, left } = report;
  // What was not judged has not passed.
  const look = hasSlopes(report) ? 'passed' : 'passed plain';
  if (report.isClean) return `<p class="${look}">${asText(conclusion(report))}</p>`;
  const complaints = [
    ...growing(series).map(growthOf),
    ...left.map(
      ({ group, name, before, now }) => `${group}: ${name} did not go back: ${before} before, ${now} after`,
    ),
  ];
  return `<div class="notice"><b>${asText(conclusion(report))}</b><ul>${complaints.map((each) => `<li>${asText(each)}</li>`).join('')}</ul></div>`;
}

function section(group: string, all: readonly JudgedSeries[], report: SoakReport): string {
  const cells = all.filter((each) => each.group === group).map((each) => cell(each, report));
  return `<h2>${asText(group)}</h2><div class="charts">${cells.join('')}</div>`;
}

function cell(series: JudgedSeries, { warmUpSeconds, seconds }: SoakReport): string {
  const { name, unit, points, judgement } = series;
  const isLong = seconds >= 7_200;
  const across = (at: number): number => at / (isLong ? 3_600 : 60);
  const drawn = (wanted: (at: number) => boolean) =>
    points.filter(({ at }) => wanted(at)).map(({ at, value }) => ({ x: across(at), y: value }));
  const judged = drawn((at) => at >= warmUpSeconds);
  // The two meet.
  const warming = [...drawn((at) => at < warmUpSeconds), ...judged.slice(0, 1)];
  const lines: Line[] = [
    { name: 'warm-up', colour: WARM_UP, points: warming, isArea: true },
    { name: 'judged', colour: SERIES, points: judged, isArea: true },
    ...trendLine(series, warmUpSeconds, seconds, across),
  ];
  const x = createAxis(isLong ? 'hours' : 'minutes', 'linear', [0, across(seconds)]);
  const y = createAxis(
    UNITS[unit],
    'linear',
    points.map(({ value }) => value),
  );
  return `<div class="cell">${chart({ title: name, x, y, series: lines })}<div class="told">${verdict(series)}${reported(judgement, unit)}</div></div>`;
}

/** Through the middle of the judged part. */
function trendLine(
  { judgement, unit }: JudgedSeries,
  from: number,
  to: number,
  across: (at: number) => number,
): Line[] {
  if (judgement.verdict === 'too_short' || judgement.verdict === 'shown_only') return [];
  const half = ((judgement.perHour / 3_600) * (to - from)) / 2;
  const tooltip = `${perHour(judgement.perHour, unit)} per hour`;
  const ends = [
    { x: across(from), y: Math.max(0, judgement.level - half), tooltip },
    { x: across(to), y: Math.max(0, judgement.level + half), tooltip },
  ];
  return [{ name: 'trend', colour: TREND, points: ends, isDashed: true }];
}

function verdict({ judgement }: JudgedSeries): string {
  const looks = { grows: 'missed', steady: 'met', settles: 'met', too_short: 'plain', shown_only: 'plain' };
  return `<span class="verdict ${looks[judgement.verdict]}">${asText(VERDICTS[judgement.verdict])}</span>`;
}

function reported(judgement: JudgedSeries['judgement'], unit: JudgedSeries['unit']): string {
  const level = `<span>level ${amount(judgement.level, unit)}, highest ${amount(judgement.highest, unit)}</span>`;
  if (judgement.verdict === 'too_short' || judgement.verdict === 'shown_only') return level;
  return `${level}<span>${perHour(judgement.perHour, unit)} per hour, sees from ${perHour(judgement.detectablePerHour, unit)}</span>`;
}
