/** Every configuration in the documents loads as it is printed. */
import { describe, expect, it } from 'vitest';
import { readScenario } from '../../../../bench/src/scenario/read-scenario.ts';
import { warningsOf } from '../config/loaded.ts';
import { markdownFiles } from './markdown-files.ts';

const BLOCK = /^```toml\n(.*?)^```$/gms;
/** A setting with its value within a sentence: `scheduler.max_retry = 3`. */
const INLINE = /`((?:server|log|session|model_hub|scheduler)\.[a-z0-9_.]+ = [^`\n]+)`/g;

/** The scenarios of the bench have a reader of their own. */
const isScenario = (path: string): boolean => path === 'docs/bench.md';

const found = (pattern: RegExp) =>
  markdownFiles.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([, toml = ''], at) => ({ path, at: at + 1, toml })),
  );

const blocks = found(BLOCK);

describe('configurations in the documents', () => {
  it.each(blocks.filter(({ path }) => !isScenario(path)))(
    'configuration $at of $path loads as printed, without warnings',
    ({ toml }) => expect(warningsOf(toml)).toEqual([]),
  );

  it('every scenario of docs/bench.md can be read as printed', () => {
    const scenarios = blocks.filter(({ path }) => isScenario(path));
    expect(scenarios).toHaveLength(1);
    for (const { path, toml } of scenarios) expect(() => readScenario(path, 'printed', toml)).not.toThrow();
  });

  it('every setting with a value within a sentence is accepted', () => {
    const settings = found(INLINE);
    expect(settings.length).toBeGreaterThan(3);
    for (const { path, toml } of settings) expect([path, toml, warningsOf(toml)]).toEqual([path, toml, []]);
  });
});
