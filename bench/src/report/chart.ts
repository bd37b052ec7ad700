/** A chart as SVG: lines over two axes, with a legend. Colours are those of the page, for light and dark mode. */
import { type Axis, tickText } from './axis.ts';

export interface Series {
  readonly name: string;
  /** Which colour of the page. */
  readonly colour: number;
  readonly points: readonly { readonly x: number; readonly y: number; readonly tooltip?: string }[];
  /** A theoretical limit. */
  readonly isDashed?: boolean;
  /** Filled down to the axis, and without dots. */
  readonly isArea?: boolean;
}

export interface Mark {
  readonly at: number;
  readonly label: string;
}

export interface ChartParts {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** A line across, at a height. */
  readonly marks?: readonly Mark[];
}

const WIDTH = 460;
const HEIGHT = 270;
const LEFT = 52;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 44;

const fixed = (place: number): string => place.toFixed(1);

export function chart({ title, x, y, series, marks = [] }: ChartParts): string {
  const across = (value: number): number => LEFT + x.place(value) * (WIDTH - LEFT - RIGHT);
  const up = (value: number): number => HEIGHT - BOTTOM - y.place(value) * (HEIGHT - TOP - BOTTOM);
  const floor = HEIGHT - BOTTOM;

  const grid = [
    ...y.ticks.map((tick) => {
      const at = fixed(up(tick));
      return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/><text class="tick" x="${LEFT - 7}" y="${at}" dy="0.35em" text-anchor="end">${tickText(tick)}</text>`;
    }),
    ...x.ticks.map((tick) => {
      const at = fixed(across(tick));
      return `<line class="mark" x1="${at}" x2="${at}" y1="${floor}" y2="${floor + 5}"/><text class="tick" x="${at}" y="${floor + 18}" text-anchor="middle">${tickText(tick)}</text>`;
    }),
    `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${floor}" y2="${floor}"/>`,
    `<text class="label" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${asText(x.label)}</text>`,
  ];

  function line({ colour, points, isDashed = false, isArea = false }: Series): string {
    const places = points.map((point) => ({ ...point, left: across(point.x), top: up(point.y) }));
    const path = places.map(
      ({ left, top }, index) => `${index === 0 ? 'M' : 'L'}${fixed(left)} ${fixed(top)}`,
    );
    const first = places[0];
    const last = places[places.length - 1];
    if (first === undefined || last === undefined) return '';
    const area = isArea
      ? `<path class="area c${colour}" d="${path.join('')}L${fixed(last.left)} ${floor}L${fixed(first.left)} ${floor}Z"/>`
      : '';
    const dots = isArea
      ? []
      : places.map(
          ({ left, top, tooltip = '' }) =>
            `<circle class="dot c${colour}" cx="${fixed(left)}" cy="${fixed(top)}" r="3.5"><title>${asText(tooltip)}</title></circle>`,
        );
    return `${area}<path class="line c${colour}${isDashed ? ' dashed' : ''}" d="${path.join('')}"/>${dots.join('')}`;
  }

  const across0 = marks
    .filter(({ at }) => at >= y.min && at <= y.max)
    .map(({ at, label }) => {
      const top = fixed(up(at));
      return `<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${top}" y2="${top}"/><text class="limit-label" x="${WIDTH - RIGHT}" y="${top}" dy="-5" text-anchor="end">${asText(label)}</text>`;
    });

  return `<figure class="chart"><figcaption><b>${asText(title)}</b><span class="unit">${asText(y.label)}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${asText(title)}">${grid.join('')}${across0.join('')}${series.map(line).join('')}</svg>
${legend(series)}</figure>`;
}

export function legend(series: readonly Pick<Series, 'name' | 'colour' | 'isDashed'>[]): string {
  if (series.length < 2) return '';
  const items = series.map(
    ({ name, colour, isDashed = false }) =>
      `<li><svg class="swatch" viewBox="0 0 22 10" aria-hidden="true"><path class="line c${colour}${isDashed ? ' dashed' : ''}" d="M1 5H21"/></svg>${asText(name)}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>`;
}

/** Text as HTML or SVG, escaped. */
export const asText = (text: string): string => text.replace(/[&<>"]/g, (sign) => NAMED[sign] ?? sign);

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
