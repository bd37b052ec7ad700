/** A simulated dispatcher that sends a request twice continues with the first acceptance, and polls the accepted job. */
import { expect, it } from 'vitest';
import { createMachine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { createVirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { draftJob } from '../../../scheduler/test/contracts/job-draft.ts';
import { startDispatcher } from '../../src/clients/dispatcher.ts';
import { createRecorder } from '../../src/history.ts';
import type { SimulatedInstance } from '../../src/instance/simulated-instance.ts';

const [HASTY, PATIENT] = [0.01, 0.99];
/** Longer than a dispatcher waits before its next request. */
const SAID_MS = 5_001;
/** Longer than a request is repeated, or polled. */
const DONE_MS = 150_000;

/** One request to an instance that answers this many dispatches, and afterwards only polls of the job. */
async function afterOneRequest(haste: number, answered: number): Promise<string[]> {
  const time = createVirtualTime();
  const recorder = createRecorder(time.now);
  const job = { ...draftJob(0), jobId: 'job-1', state: 'RELEASED' as const };
  let [dispatches, drawn] = [0, 0];
  const instance = {
    dispatch: async () => (dispatches++ < answered ? { kind: 'dispatched', job } : undefined),
    settled: async () => job,
  } as unknown as SimulatedInstance;
  const client = startDispatcher({
    machine: createMachine({ time, name: 'dispatcher-1' }),
    requests: '1.1',
    // When it sends, and whether it sends twice.
    chance: () => [0.5, haste][drawn++] ?? 0.5,
    tenant: 'acme',
    languages: ['en', 'zh'],
    perSecond: 0.1,
    world: {
      recorder,
      dial() {},
      async ask(_from, _limitMs, run) {
        const answer = await run(instance);
        return answer === undefined ? undefined : { answer, instance: 'instance-1' };
      },
    },
  });
  await time.runUntil(SAID_MS);
  client.stop();
  await time.runUntil(DONE_MS);
  expect([client.asked(), client.isDone()]).toEqual([1, true]);
  return recorder.history.map(({ kind }) => kind).filter((kind) => kind !== 'unanswered');
}

it('polls a job whose id only one of two duplicate requests received', async () => {
  expect(await afterOneRequest(HASTY, 1)).toEqual(['asked', 'accepted', 'outcome']);
});

it('abandons a request that no instance accepted', async () => {
  expect(await afterOneRequest(HASTY, 0)).toEqual(['asked', 'abandoned']);
  expect(await afterOneRequest(PATIENT, 0)).toEqual(['asked', 'abandoned']);
});
