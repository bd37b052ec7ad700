/** Durations as text. */
import { expect, it } from 'vitest';
import { printDuration, readDuration } from '../../src/cli/duration.ts';

it.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['0s', 0],
  ['5', undefined],
  ['h', undefined],
  ['-1h', undefined],
  ['1w', undefined],
  ['1h30m', undefined],
  ['', undefined],
])('%j is read as %j ms', (text, ms) => {
  expect(readDuration(text)).toBe(ms);
});

it.each([
  [0, '0s'],
  [999, '0s'],
  [1_000, '1s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [61_000, '1m 1s'],
  [3_600_000, '1h'],
  [3_659_000, '1h'],
  [3_660_000, '1h 1m'],
  [93_784_000, '1d 2h'],
  [864_000_000, '10d'],
])('%i ms is printed as %s', (ms, text) => {
  expect(printDuration(ms)).toBe(text);
});
