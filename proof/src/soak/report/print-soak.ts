/** The end of a soak in the terminal. Pure. */
import { printTable } from '../../../../packages/scheduler/dist/cli/print-table.js';
import { growing, type JudgedSeries, type SoakReport } from '../judge/judge-soak.ts';
import { amount, conclusion, growthOf, howJudged, perHour, remarkOn, VERDICTS, workRows } from './words.ts';

const WIDTH = 120;

export function printSoak(report: SoakReport): string {
  const { series, work, left, errors } = report;
  const remark = remarkOn(errors);
  const isIdle = ({ judgement, points }: JudgedSeries): boolean =>
    judgement.highest === 0 && points.every(({ value }) => value === 0);
  const idle = series.filter(isIdle).map(({ name }) => name);
  const parts = [
    printTable(
      [
        { title: 'of', cell: ({ group }) => group },
        { title: 'series', cell: ({ name }) => name },
        { title: 'level', cell: ({ judgement, unit }) => amount(judgement.level, unit) },
        { title: 'highest', cell: ({ judgement, unit }) => amount(judgement.highest, unit) },
        { title: 'per hour', cell: (each) => slope(each, each.judgement.perHour) },
        { title: 'at least', cell: (each) => slope(each, each.judgement.perHourAtLeast) },
        { title: 'sees from', cell: (each) => slope(each, each.judgement.detectablePerHour) },
        { title: 'verdict', cell: ({ judgement }) => VERDICTS[judgement.verdict] },
      ],
      series.filter((each) => !isIdle(each)),
    ),
    ...(idle.length === 0 ? [] : [wrapped(`Always 0: ${idle.join(', ')}`)]),
    wrapped(howJudged(report)),
    wrapped(
      `Work: ${workRows(work)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}.`,
    ),
    ...(remark === undefined ? [] : [wrapped(remark)]),
    ...growing(series).map(growthOf),
    ...left.map(
      ({ group, name, before, now }) =>
        `${group}: ${name} was ${amount(before, 'count')} before the load and is ${amount(now, 'count')} after it`,
    ),
    conclusion(report),
    ...(report.isClean ? [] : [`The same load again: ${report.replay}`]),
  ];
  return parts.join('\n\n');
}

/** A slope without a verdict would be misread as one. */
const slope = ({ judgement, unit }: JudgedSeries, value: number): string =>
  judgement.verdict === 'too_short' || judgement.verdict === 'shown_only' ? '–' : perHour(value, unit);

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= WIDTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
