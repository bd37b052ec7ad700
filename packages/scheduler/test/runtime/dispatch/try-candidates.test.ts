/** Tries of one job run one after the other, also when one of them throws. */
import { expect, it } from 'vitest';
import { createTryCandidates } from '../../../src/runtime/dispatch/try-candidates.ts';
import type { Engine } from '../../../src/runtime/engine.ts';
import type { InFlightJob } from '../../../src/runtime/in-flight-job.ts';
import type { Selection } from '../../../src/runtime/select/select.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function start() {
  const asked: string[] = [];
  let breakOff = () => {};
  const breaking = new Promise<boolean>((_, reject) => {
    breakOff = () => reject(new Error('a fault'));
  });
  const place = createTryCandidates({ clock: createManualClock() } as unknown as Engine, {
    reserve(nodeId) {
      asked.push(nodeId);
      return nodeId === 'node-broken' ? breaking : false;
    },
    send: () => 'sent',
  });
  const flight = {
    job: { jobId: 'job-1' },
    driving: 'ours',
    rounds: 0,
    attempts: 0,
    securing: undefined,
  } as unknown as InFlightJob;
  const round = (...nodeIds: string[]) =>
    place(flight, { next: () => nodeIds.shift() } as unknown as Selection);
  const broken = round('node-broken', 'node-never').catch((fault: Error) => fault.message);
  return { asked, round, broken, breakOff };
}

it('a try after a failed one reserves on its nodes', async () => {
  const { asked, round, broken, breakOff } = start();
  breakOff();
  expect(await broken).toBe('a fault');
  expect([await round('node-b', 'node-c'), asked]).toEqual(['no_node', ['node-broken', 'node-b', 'node-c']]);
});

it('a try that waited for a failed one reserves on its nodes', async () => {
  const { asked, round, broken, breakOff } = start();
  const waiting = round('node-b');
  expect(asked).toEqual(['node-broken']);
  breakOff();
  expect(await broken).toBe('a fault');
  expect([await waiting, asked]).toEqual(['no_node', ['node-broken', 'node-b']]);
});
