/** Durations as text. Pure. */

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** "90s", "1.5h", "2d"; undefined if it is none. */
export function readDuration(text: string): number | undefined {
  const [, amount, name] = /^(\d{1,9}(?:\.\d{1,3})?)(d|h|m|s)$/.exec(text) ?? [];
  const unit = UNITS.find(([known]) => known === name);
  return amount === undefined || unit === undefined ? undefined : Math.round(Number(amount) * unit[1]);
}

/** The two largest units: "3d 4h", "12s". */
export function printDuration(ms: number): string {
  const at = UNITS.findIndex(([, unit]) => ms >= unit);
  const [large, small] = [UNITS[at], UNITS[at + 1]];
  if (at < 0 || large === undefined) return '0s';
  const rest = small === undefined ? 0 : Math.floor((ms % large[1]) / small[1]);
  const first = `${Math.floor(ms / large[1])}${large[0]}`;
  return rest === 0 || small === undefined ? first : `${first} ${rest}${small[0]}`;
}
