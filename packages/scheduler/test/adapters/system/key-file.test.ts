/** Files of secret keys: what is read, and what is refused with which words. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readKeyFile } from '../../../src/adapters/system/key-file.ts';
import { createFakeLog } from '../../transport/ws/fakes.ts';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
const path = join(folder, 'keys');
afterAll(() => rmSync(folder, { recursive: true }));

const [ONE, TWO] = [randomBytes(32), randomBytes(32)];
const line = (id: string, secret: Buffer) => `${id} ${secret.toString('base64')}`;

function read(text: string, mode = 0o600) {
  writeFileSync(path, text);
  chmodSync(path, mode);
  const log = createFakeLog();
  return { keys: readKeyFile('the.setting', path, log), lines: log.lines };
}

describe('key file', () => {
  it('keys are read in their order, without comments and empty lines', () => {
    const { keys, lines } = read(`# new\n${line('k2', TWO)}\n\n  ${line('k1', ONE)}\r\n`);
    expect(keys).toEqual([
      { id: 'k2', secret: TWO },
      { id: 'k1', secret: ONE },
    ]);
    expect(lines).toEqual([]);
  });

  it('no setting gives no keys', () => {
    expect(readKeyFile('the.setting', undefined, createFakeLog())).toBeUndefined();
  });

  it.each([
    ['', 'has no key'],
    ['# nothing\n', 'has no key'],
    ['k1\n', 'line 1 is no key'],
    [`${line('k1', ONE)}\nk2 c2hvcnQ=`, 'line 2 is no key'],
    [line('k 1', ONE), 'line 1 is no key'],
    [`${line('k1', ONE)}\n${line('k1', TWO)}`, 'line 2 has the id of another key: k1'],
  ])('refuses %j', (text, words) => {
    expect(() => read(text)).toThrow(words);
    expect(() => read(text)).toThrow('the.setting');
  });

  it('the words of a refusal contain no key', () => {
    const text = `${line('k1', ONE)}\n${line('k1', TWO)}`;
    expect(() => read(text)).not.toThrow(TWO.toString('base64'));
  });

  it('a missing file is named with its setting', () => {
    expect(() => readKeyFile('the.setting', join(folder, 'absent'), createFakeLog())).toThrow(
      /^the\.setting cannot be read: ENOENT/,
    );
  });

  it('a file that other users can read gives a warning', () => {
    expect(read(line('k1', ONE), 0o644).lines).toHaveLength(1);
  });
});
