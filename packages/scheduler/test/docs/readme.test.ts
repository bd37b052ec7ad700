/** The README is short, and its commands exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { typeOf } from '../../../../scripts/changelog.mjs';
import { createIdSource } from '../../src/adapters/system/id-source.ts';
import { commandNames } from '../../src/cli/docs/print-cli.ts';
import { ROOT } from '../architecture/source-files.ts';
import { loaded } from '../config/loaded.ts';
import { createManualClock } from '../support/manual-clock.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Commands of npm itself that need no script. */
const BUILT_IN = new Set(['ci', 'install']);

describe.each(['README.md', 'README.zh-CN.md'])('%s', (path) => {
  const text = read(path);

  it('the README has at most 150 lines', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('the README begins with the two commands', () => {
    const [, first = ''] = /^```sh\n(.*?)^```/ms.exec(text) ?? [];
    expect(first).toMatch(/^npm ci && npm start\b/m);
    expect(first).toMatch(/^npm ci && npm test\b/m);
  });

  it('the README shows a job id in the real format', () => {
    const [, shown = ''] = /"job_id":"([^"]*)"/.exec(text) ?? [];
    const ids = createIdSource({ clock: createManualClock(), digestsRequests: false });
    const real = ids.jobId('default', undefined);
    const form = (id: string): string => `${id.slice(0, 4)} ${id.length} ${/[a-p]{6}$/.test(id)}`;
    expect(form(shown)).toBe(form(real));
  });

  it('the README names only existing npm scripts', () => {
    const named = [...text.matchAll(/\bnpm (?:run )?([a-z][\w:-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !BUILT_IN.has(name) && scripts[name] === undefined)).toEqual([]);
  });

  it('the README names only existing lingua commands', () => {
    const known = commandNames(read('docs/cli.md'));
    const named = [...text.matchAll(/\b(?:npx )?lingua ([a-z]+)\b/g)].map(([, name = '']) => name);
    expect(named).toContain('serve');
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  it('the settings for legacy nodes are valid and outlast their 60 s queue', () => {
    const [, text = ''] = /## Legacy nodes.*?```toml\n(.*?)```/s.exec(read('docs/operations.md')) ?? [];
    const { config } = loaded({ toml: { path: 'config.toml', text } });
    expect(config.scheduler.job_timeout_seconds).toBeGreaterThan(60);
  });
});

describe('CHANGELOG.md', () => {
  it('has at most 5 KB before a release, and 8 KB for each release with its files', () => {
    for (const section of read('CHANGELOG.md').split(/^(?=## \[)/m)) {
      const most = section.startsWith('## [Unreleased]') ? 5_120 : 8_192;
      expect(Buffer.byteLength(section)).toBeLessThanOrEqual(most);
    }
  });

  it('the files for the next release have names that a release understands', () => {
    const names = readdirSync(join(ROOT, 'changelog')).filter((name) => name !== 'README.md');
    for (const name of names) expect(() => typeOf(name)).not.toThrow();
  });
});
