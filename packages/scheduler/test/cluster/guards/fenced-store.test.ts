/** The shared store of a fenced instance: it writes, commits and releases nothing. */
import { describe, expect, it } from 'vitest';
import { guardStore } from '../../../src/app/multi-instance.ts';
import type { SharedStore } from '../../../src/app/redis-store.ts';

const LEDGER = ['reserve', 'commit', 'release', 'abandon', 'reassert'] as const;
const JOBS = ['admit', 'move', 'takeOver', 'restore'] as const;

function start() {
  const state = { isFenced: false };
  const requested: string[] = [];
  const port = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        async () => {
          requested.push(name);
        },
      ]),
    );
  const store = {
    ...{ mailbox: {}, sessions: {}, locks: {}, modelDebounce: {}, nodeIdClaims: {}, usage: {} },
    ledger: port([...LEDGER, 'commitDelayMs']),
    jobs: () => port(JOBS),
  } as unknown as SharedStore;
  const guarded = guardStore({ store, isFenced: () => state.isFenced, credentialOf: () => undefined });
  const parts: Readonly<Record<string, unknown>> = { ...guarded.ledger, ...guarded.jobs({} as never) };
  const request = (name: string): Promise<unknown> => (parts[name] as () => Promise<unknown>)();
  return { state, requested, request };
}

describe('the shared store of an instance', () => {
  it('I4 fencing: refuses every lease and job write while fenced', async () => {
    const { state, requested, request } = start();
    state.isFenced = true;
    for (const name of [...LEDGER, ...JOBS])
      await expect(request(name), name).rejects.toMatchObject({
        code: 'SCHEDULER_DEPENDENCY_DOWN',
        isUnsent: true,
      });
    expect(requested).toEqual([]);
    state.isFenced = false;
    for (const name of [...LEDGER, ...JOBS]) await request(name);
    expect(requested).toEqual([...LEDGER, ...JOBS]);
  });
});
