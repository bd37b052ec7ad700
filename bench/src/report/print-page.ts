/** One self-contained page with all results of a run. */

import { type Figure, isMet } from '../measure.ts';
import type { Found } from '../run-all.ts';
import type { ScenarioReport } from '../scenario/run-scenario.ts';
import { shownAt } from '../scenario/scenario.ts';
import { OURS, titleOf } from '../scenario/vocabulary.ts';
import { amount, promise } from '../show.ts';
import { asText } from './chart.ts';
import { describeLoad } from './describe-load.ts';
import { dispatchBand } from './dispatch-band.ts';
import { scenarioCharts } from './scenario-charts.ts';
import { STYLE } from './style.ts';
import { contestantsOf, contestRows } from './tables.ts';

export function printPage(found: Found): string {
  const band = dispatchBand(found.scenarios);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Lingua Scheduler: bench</title><style>${STYLE}</style></head><body><main>
<h1>Lingua Scheduler: bench</h1>
${header(found)}
${promises(found)}
${band === '' ? '' : `<h2>The dispatch path against 0.2 – 5 ms</h2><p class="soft">From when a job was due until it is with a node: dot p50, ring p99. The band is what was promised of the path. A late start counts, even if the client was late.</p>${band}`}
${found.scenarios.map(section).join('\n')}
${suites(found)}
</main></body></html>
`;
}

function header({ machine, rounds, isQuick, seconds }: Found): string {
  const facts: readonly (readonly [string, string])[] = [
    ['Processor', `${machine.cpu}, ${machine.cores} cores`],
    ['Memory', `${machine.memoryGb} GB`],
    ['System', machine.system],
    ['Node.js', machine.node],
    ['redis-server', machine.redis],
    ['Load before the run', amount(machine.loadBefore)],
    ['Rounds', rounds === 1 ? '1' : `${rounds}, figures are medians`],
    ['Took', seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`],
  ];
  const notice = isQuick
    ? '<p class="notice">A quick run: one short, disturbed round, to see that everything runs. Its figures mean nothing.</p>'
    : '';
  return `<p class="soft">${asText(machine.at.replace('T', ' ').slice(0, 16))} UTC</p>${notice}
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${asText(name)}</dt><dd>${asText(value)}</dd></div>`).join('')}</dl>`;
}

const verdict = (met: boolean): string =>
  met ? '<span class="verdict met">met</span>' : '<span class="verdict missed">missed</span>';

/** Of suites and scenarios, missed ones first. */
function promises({ figures }: Found): string {
  const judged = figures.flatMap((figure) => {
    const met = isMet(figure);
    return met === undefined ? [] : [{ figure, met }];
  });
  if (judged.length === 0) return '';
  const missed = judged.filter(({ met }) => !met);
  const rows = [...missed, ...judged.filter(({ met }) => met)].map(
    ({ figure, met }) =>
      `<tr><td>${verdict(met)}</td><td>${asText(figure.name)} <span class="where">${asText(figure.scenario)}</span></td><td class="n">${withUnit(figure)}</td><td class="n">${asText(promise(figure))}</td></tr>`,
  );
  const verdictText =
    missed.length === 0
      ? `All ${judged.length} are met.`
      : `${judged.length - missed.length} of ${judged.length} are met, ${missed.length} missed.`;
  return `<h2>What is promised</h2><p>${verdictText}</p><div class="scroll"><table><thead><tr><th></th><th>Figure</th><th class="n">Value</th><th class="n">Target</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

const withUnit = ({ value, unit }: Pick<Figure, 'value' | 'unit'>): string =>
  asText(`${amount(value)} ${unit}`.trim());

function section(report: ScenarioReport): string {
  const { scenario } = report;
  return `<h2 id="${asText(scenario.name)}">${asText(scenario.title)}</h2>
<p class="soft"><code>${asText(scenario.name)}</code> · ${asText(describeLoad(scenario))}</p>
<div class="charts">${scenarioCharts(report)}</div>
${contestTable(report)}`;
}

function contestTable(report: ScenarioReport): string {
  const [, ...peers] = contestantsOf(report);
  const head = `<th>Figure</th><th class="n">${OURS}</th>${peers.map((who) => `<th class="n">${asText(titleOf(who))}</th><th class="n">ratio</th>`).join('')}`;
  const shown = (value: number | undefined, unit: string, isMore = false): string =>
    value === undefined ? '' : `${isMore ? 'more than ' : ''}${withUnit({ value, unit })}`;
  const rows = report.points.flatMap((point) => {
    const at = shownAt(report.scenario, point.value);
    const group =
      at === '' ? [] : [`<tr class="group"><th colspan="${2 + 2 * peers.length}">${asText(at)}</th></tr>`];
    return [
      ...group,
      ...contestRows(report, point).map(
        ({ title, unit, values: [ours, ...others], areMore, ratios }) =>
          `<tr><td>${asText(title)}</td><td class="n">${shown(ours, unit, areMore[0])}</td>${others.map((other, index) => `<td class="n">${shown(other, unit, areMore[index + 1])}</td><td class="n ratio">${shown(ratios[index], '×')}</td>`).join('')}</tr>`,
      ),
    ];
  });
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function suites({ figures, scenarios }: Found): string {
  const declared = new Set(scenarios.map(({ scenario }) => scenario.name));
  const names = [...new Set(figures.map(({ scenario }) => scenario))].filter((name) => !declared.has(name));
  if (names.length === 0) return '';
  const rows = names.flatMap((name) => [
    `<tr class="group"><th colspan="3">${asText(name)}</th></tr>`,
    ...figures
      .filter(({ scenario }) => scenario === name)
      .map(
        (figure) =>
          `<tr><td>${asText(figure.name)}</td><td class="n">${withUnit(figure)}</td><td class="n">${asText(promise(figure))}</td></tr>`,
      ),
  ]);
  return `<h2>Suites</h2><div class="scroll"><table><thead><tr><th>Figure</th><th class="n">Value</th><th class="n">Target</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}
