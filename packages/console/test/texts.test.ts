/** The texts of the console exist in both languages, with the same values in them. */
import { ERROR_CODES } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { REJECTIONS } from '../../scheduler/src/domain/need.ts';
import { filesUnder } from '../../scheduler/test/architecture/source-files.ts';
import { en } from '../src/texts/en.ts';
import { enRooms } from '../src/texts/en-rooms.ts';
import { enTalk } from '../src/texts/en-talk.ts';
import { fill } from '../src/texts/tables.ts';
import { zh } from '../src/texts/zh.ts';
import { zhRooms } from '../src/texts/zh-rooms.ts';
import { zhTalk } from '../src/texts/zh-talk.ts';

const english: Readonly<Record<string, string>> = { ...en, ...enRooms, ...enTalk };
const chinese: Readonly<Record<string, string>> = { ...zh, ...zhRooms, ...zhTalk };
const valuesIn = (text = ''): string[] =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort();
const sources = ['.ts', '.tsx'].flatMap((ending) => filesUnder('packages/console/src', ending));

it('every English text has a Chinese one with the same values', () => {
  const odd = Object.keys(english).filter(
    (key) => chinese[key] === undefined || valuesIn(chinese[key]).join() !== valuesIn(english[key]).join(),
  );
  expect(odd).toEqual([]);
});

it('a word follows the number before it', () => {
  const text = '{used} of {slots} {slots|slot|slots} used';
  expect(fill(text, { used: 2, slots: 1 })).toBe('2 of 1 slot used');
  expect(fill(text, { used: 1, slots: '1,000' })).toBe('1 of 1,000 slots used');
  expect(fill(text, { used: 1, slots: 0 })).toBe('1 of 0 slots used');
});

it('no English text has a plural after a number that may be 1', () => {
  const counted = /\{\w+\} (?:bad )?(?:nodes|slots|jobs|requests|translations|sessions|attempts)\b/;
  expect(Object.entries(english).filter(([, text]) => counted.test(text))).toEqual([]);
});

it('every reason why a node cannot take a job has a text', () => {
  expect(REJECTIONS.filter((reason) => english[`reject.${reason}`] === undefined)).toEqual([]);
});

it('every error code has a name, and a Chinese hint', () => {
  expect(ERROR_CODES.filter((code) => english[`error.${code}`] === undefined)).toEqual([]);
  expect(ERROR_CODES.filter((code) => chinese[`hint.${code}`] === undefined)).toEqual([]);
});

it('no text is empty, and no Chinese text was left in English', () => {
  const same = ['CPU', 'GPU', 'p99', '…'];
  const left = Object.keys(english).filter(
    (key) => chinese[key] === '' || (chinese[key] === english[key] && !same.includes(english[key] ?? '')),
  );
  expect(left).toEqual([]);
});

it('every text is used', () => {
  const code = sources.filter(({ path }) => !path.includes('/texts/')).map(({ text }) => text);
  const written = new Set(
    code.flatMap((text) => [...text.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, key]) => key)),
  );
  const groups = code.flatMap((text) =>
    [...text.matchAll(/`([a-z_]+\.)\$\{/g)].map(([, group = '']) => group),
  );
  const unused = Object.keys(english).filter(
    (key) => !written.has(key) && !groups.some((group) => key.startsWith(group)),
  );
  expect(unused).toEqual([]);
});
