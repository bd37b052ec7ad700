/** Attacks on real processes: each is held off, and has its row in docs/security.md. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { readAttacks } from '../../src/attacks/run-attacks.ts';
import { unheld } from './unheld.ts';

const RUN_MS = 1_200_000;

describe('attacks', () => {
  beforeAll(ensureBuilt, 150_000);

  it('are held off by one process and by two on a Redis', { timeout: RUN_MS }, async () => {
    expect(await unheld('--cheap')).toEqual([]);
  });
});

describe('the table of attacks in docs/security.md', async () => {
  const attacks = await readAttacks();
  const page = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8');

  it('has a row for every attack, and no others', () => {
    const rows = [...page.matchAll(/^\| (\d+) \| `([a-z0-9-]+)` \|/gm)].map(
      ([, point, name]) => `${point} ${name}`,
    );
    expect(rows.sort()).toEqual(attacks.map(({ point, name }) => `${point} ${name}`).sort());
  });

  it('names each attack once', () => {
    const names = attacks.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
