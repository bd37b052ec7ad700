/** The ledger of one of many instances: it publishes loads, and reserves nothing where leases may be lost. */
import { describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { reserveTimeoutMs } from '../../../src/app/settings/shared-settings.ts';
import { guardLedger } from '../../../src/cluster/guards/ledger.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { isUnsent } from '../../../src/domain/errors.ts';
import type { Load } from '../../../src/domain/lease.ts';
import { faulty } from '../../support/faulty.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const TTL_MS = 5_000;

async function start(reserveMs?: number) {
  const clock = createManualClock();
  const store = faulty(createCapacityLedger({ clock }), [], clock);
  const state = { settled: undefined as Promise<void> | undefined };
  const requested: string[] = [];
  const noted: string[] = [];
  const ledger = guardLedger({
    ledger: store.port,
    settled(nodeId) {
      requested.push(nodeId);
      return state.settled;
    },
    noteLoad: (nodeId, { used, max }: Load) => void noted.push(`${nodeId} ${used}/${max}`),
    clock,
    reserveMs,
  });
  await ledger.declare('n1', { slots: 2, isAccepting: true });
  return { clock, store, state, requested, noted, ledger };
}

describe('the guarded ledger', () => {
  it('publishes the load after every reserve, also when refused', async () => {
    const { ledger, noted } = await start();
    for (const lease of ['a:1', 'a:1', 'b:1', 'c:1']) await ledger.reserve('n1', lease, TTL_MS);
    expect(noted).toEqual(['n1 1/2', 'n1 1/2', 'n1 2/2', 'n1 2/2']);
  });

  it('publishes the load after a commit', async () => {
    const { ledger, noted } = await start();
    await ledger.reserve('n1', 'a:1', TTL_MS);
    expect(await ledger.commit('n1', 'a:1', 10 * TTL_MS)).toMatchObject({ kind: 'committed' });
    expect(noted).toEqual(['n1 1/2', 'n1 1/2']);
  });

  it('limits the time of a reserve, whose effect is then unknown', async () => {
    const { clock, ledger, store, noted } = await start(200);
    store.plan({ method: 'reserve', fault: { delayMs: 300 } });
    const reserving = Promise.resolve(ledger.reserve('n1', 'a:1', TTL_MS)).catch((fault: unknown) => fault);
    await clock.advance(200);
    expect(await reserving).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(isUnsent(await reserving)).toBe(false);
    store.heal();
    expect(await ledger.reserve('n1', 'b:1', TTL_MS)).toMatchObject({ kind: 'reserved' });
    await clock.advance(100);
    expect([noted, clock.pending()]).toEqual([['n1 1/2'], 0]);
  });

  it('publishes the load after a release', async () => {
    const { ledger, noted } = await start();
    await ledger.reserve('n1', 'a:1', TTL_MS);
    expect(await ledger.release('n1', 'a:1')).toEqual({ kind: 'released', used: 0, max: 2 });
    expect(noted).toEqual(['n1 1/2', 'n1 0/2']);
  });

  it('publishes the load of a heartbeat, except for unknown nodes', async () => {
    const { ledger, noted } = await start();
    expect(await ledger.reconcile('n1', { running: 2 })).toEqual({ used: 2, max: 2 });
    expect(await ledger.reconcile('n2', { running: 2 })).toBeUndefined();
    expect(await ledger.reserve('n2', 'a:1', TTL_MS)).toEqual({ kind: 'unknown_node' });
    expect(await ledger.release('n2', 'a:1')).toEqual({ kind: 'unknown_node' });
    expect(noted).toEqual(['n1 2/2']);
  });

  it('reserves only after the replay of the node; releases do not wait', async () => {
    const { clock, ledger, state, store, requested } = await start();
    await ledger.reserve('n1', 'a:1', TTL_MS);
    let settle: () => void = () => {};
    state.settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const reserving = Promise.resolve(ledger.reserve('n1', 'b:1', TTL_MS));
    await ledger.commit('n1', 'a:1', TTL_MS);
    await ledger.release('n1', 'a:1');
    await clock.advance(1_000);
    expect(store.calls('reserve')).toBe(1);
    settle();
    expect(await reserving).toEqual({ kind: 'reserved', used: 1, max: 2 });
    expect(requested).toEqual(['n1', 'n1']);
  });

  it('rejects when the store fails, and publishes nothing', async () => {
    const { ledger, store, noted } = await start();
    store.plan({ fault: 'throw' });
    await expect(Promise.resolve(ledger.reserve('n1', 'a:1', TTL_MS))).rejects.toThrow();
    await expect(Promise.resolve(ledger.release('n1', 'a:1'))).rejects.toThrow();
    await expect(ledger.reconcile('n1', { running: 0 })).rejects.toThrow();
    expect(noted).toEqual([]);
  });
});

it.each([
  ['scheduler.reserve_timeout_ms=300', 300],
  ['scheduler.reserve_timeout_ms=900', undefined],
])('a reserve has its own limit only if shorter than the call limit: %s', (flag, limitMs) => {
  const loaded = loadConfig({ flags: [['set', flag]] });
  expect(loaded.kind === 'ok' && reserveTimeoutMs(loaded.config)).toBe(limitMs);
});
