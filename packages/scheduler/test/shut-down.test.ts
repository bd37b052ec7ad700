/** How a server ends: in a visible order, and within the time it was given. */
import { describe, expect, it } from 'vitest';
import { createShutDown, type ShutDownDeps } from '../src/app/shutdown.ts';
import { createManualClock } from './support/manual-clock.ts';

const DRAIN_MS = 30_000;

function start(sessionsTakeMs: number) {
  const clock = createManualClock();
  const steps: string[] = [];
  const step = (name: string) => () => void steps.push(name);
  const later = (name: string) => async () => void steps.push(name);
  const deps: ShutDownDeps = {
    sessions: {
      drain: () => ({ notified: 1, ended: new Promise((end) => clock.after(sessionsTakeMs, end)) }),
      stop: step('sessions'),
    },
    jobs: {
      async drain(limitMs) {
        steps.push(`jobs within ${limitMs}`);
        return 0;
      },
      stop: step('jobs'),
    },
    registry: { stop: step('registry') },
    sockets: {
      drain() {
        steps.push('nodes');
        return 1;
      },
    },
    socketServer: { close: later('sockets') },
    http: { close: later('http') },
    endpoints: { close: step('endpoints') },
    webhooks: { idle: async () => {}, stop: step('webhooks') },
    loop: { stop: step('loop') },
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    withdraw: async (limitMs) => void steps.push(`withdrawn within ${limitMs}`),
    leave: later('left'),
    drainTimeoutMs: DRAIN_MS,
    drains: step('drains'),
    leaves: step('leaves'),
  };
  return { clock, steps, stopping: createShutDown(deps)() };
}

describe('shutting down', () => {
  it('sessions move, jobs end, nodes move, doors close, others are left last', async () => {
    const { clock, steps, stopping } = start(10);
    await clock.advance(10);
    await stopping;
    expect(steps.filter((name) => !name.includes('within'))).toEqual([
      'drains',
      'leaves',
      'nodes',
      'sockets',
      'http',
      'endpoints',
      'webhooks',
      'sessions',
      'jobs',
      'registry',
      'left',
      'loop',
    ]);
  });

  it.each([
    [0, DRAIN_MS],
    [12_000, DRAIN_MS - 12_000],
    [DRAIN_MS + 5, 0],
  ])('what sessions took, %i ms, is not given to jobs again', async (tookMs, leftMs) => {
    const { clock, steps, stopping } = start(tookMs);
    await clock.advance(tookMs);
    await stopping;
    expect(steps).toEqual(expect.arrayContaining([`jobs within ${leftMs}`, `withdrawn within ${leftMs}`]));
  });
});
