/** Several things on one time axis: bars for what lasts, marks for moments. */
import type { ComponentChildren } from 'preact';
import { tOr } from '../texts/text.ts';
import { clockTime, duration } from './format.ts';

export interface Bar {
  readonly from: number;
  /** Absent: it has not ended. */
  readonly to?: number | undefined;
  readonly kind: string;
  readonly label: string;
}

export interface Mark {
  readonly at: number;
  readonly kind: string;
  readonly label: string;
}

export interface AxisRow {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly bars?: readonly Bar[];
  readonly marks?: readonly Mark[];
}

const TICKS = 4;

export function TimeAxis({ rows, now, label }: { rows: readonly AxisRow[]; now: number; label: string }) {
  const moments = rows.flatMap(({ bars = [], marks = [] }) => [
    ...bars.flatMap(({ from, to }) => [from, to ?? now]),
    ...marks.map(({ at }) => at),
  ]);
  if (moments.length === 0) return null;
  const start = Math.min(...moments);
  const end = Math.max(...moments, start + 1);
  const share = (at: number): number => (100 * (at - start)) / (end - start);

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
    <section class="axis" aria-label={label} tabIndex={0}>
      <div class="axis-row axis-scale">
        <span class="axis-label">{clockTime(start)}</span>
        <div class="axis-track">
          {Array.from({ length: TICKS + 1 }, (_, tick) => (
            <span key={tick} style={{ left: `${(100 * tick) / TICKS}%` }}>
              {tick === 0 ? '0' : `+${duration(((end - start) * tick) / TICKS)}`}
            </span>
          ))}
        </div>
      </div>
      {rows.map(({ key, label: name, bars = [], marks = [] }) => (
        <div class="axis-row" key={key}>
          <span class="axis-label">{name}</span>
          <div class="axis-track">
            {bars.map((bar) => {
              const length = (bar.to ?? now) - bar.from;
              const text = `${bar.label}: ${duration(length)}`;
              const width = Math.max(0.4, share(start + length));
              return (
                <span
                  key={`${bar.kind}${bar.from}`}
                  class={`bar bar-${bar.kind} ${bar.to === undefined ? 'open' : ''} ${width > 14 ? '' : 'narrow'}`}
                  style={{ left: `${Math.min(share(bar.from), 100 - width)}%`, width: `${width}%` }}
                  title={text}
                >
                  {width > 14 ? text : <span class="unseen">{text}</span>}
                </span>
              );
            })}
            {marks.map((mark) => (
              <span
                key={`${mark.kind}${mark.at}${mark.label}`}
                class={`mark mark-${mark.kind}`}
                style={{ left: `${share(mark.at)}%` }}
                title={`${mark.label} (${clockTime(mark.at)})`}
              >
                <span class="unseen">{mark.label}</span>
              </span>
            ))}
          </div>
        </div>
      ))}
      <Legend marks={rows.flatMap(({ marks = [] }) => marks)} />
    </section>
  );
}

/** What each kind of mark means: only a mouse reads the titles of the marks. */
function Legend({ marks }: { marks: readonly Mark[] }) {
  const kinds = [...new Set(marks.map(({ kind }) => kind))];
  if (kinds.length === 0) return null;
  return (
    <ul class="axis-legend">
      {kinds.map((kind) => (
        <li key={kind}>
          <i class={`mark mark-${kind}`} /> {tOr(`event.${kind}`, kind)}
        </li>
      ))}
    </ul>
  );
}
