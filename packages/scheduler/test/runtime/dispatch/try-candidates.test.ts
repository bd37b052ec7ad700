/** Tries of one job run one after the other, also when one of them throws. */
import { expect, it } from 'vitest';
import { createTryCandidates } from '../../../src/runtime/dispatch/try-candidates.ts';
import type { Engine } from '../../../src/runtime/engine.ts';
import type { InFlightJob } from '../../../src/runtime/in-flight-job.ts';
import type { Selection } from '../../../src/runtime/select/select.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function start() {
  const reserved: string[] = [];
  let failReserve = () => {};
  const failing = new Promise<boolean>((_, reject) => {
    failReserve = () => reject(new Error('a fault'));
  });
  const place = createTryCandidates({ clock: createManualClock() } as unknown as Engine, {
    reserve(nodeId) {
      reserved.push(nodeId);
      return nodeId === 'node-broken' ? failing : false;
    },
    send: () => 'sent',
  });
  const flight = {
    job: { jobId: 'job-1' },
    driving: 'ours',
    attempts: 0,
  } as unknown as InFlightJob;
  const search = (...nodeIds: string[]) =>
    place(flight, { next: () => nodeIds.shift() } as unknown as Selection);
  const failed = search('node-broken', 'node-never').catch((fault: Error) => fault.message);
  return { reserved, search, failed, failReserve };
}

it('a try after a failed one reserves on its nodes', async () => {
  const { reserved, search, failed, failReserve } = start();
  failReserve();
  expect(await failed).toBe('a fault');
  expect([await search('node-b', 'node-c'), reserved]).toEqual([
    'no_node',
    ['node-broken', 'node-b', 'node-c'],
  ]);
});

it('a try that waited for a failed one reserves on its nodes', async () => {
  const { reserved, search, failed, failReserve } = start();
  const waiting = search('node-b');
  expect(reserved).toEqual(['node-broken']);
  failReserve();
  expect(await failed).toBe('a fault');
  expect([await waiting, reserved]).toEqual(['no_node', ['node-broken', 'node-b']]);
});
