/** How attempts went on nodes that others drive jobs on: counted once, by their holder where it sees it, by their driver where it does not. */
import { describe, expect, it } from 'vitest';
import { createGuestAttempts } from '../../src/cluster/holder/guest-attempts.ts';
import type { JobResult } from '../../src/domain/job-spec.ts';
import { ANY_ATTEMPT } from '../../src/domain/node-report.ts';
import { useOf } from '../../src/domain/service-use.ts';
import { RESULT } from '../contracts/job-draft.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { SOON_MS, startDesks } from './remote-jobs-rig.ts';
import { NEED, startDriverAndHolder } from './remote-nodes-rig.ts';

const USE = useOf(NEED);
const KEEP_MS = 90_000;
const MOST_NOTED = 50_000;

async function startPlaced() {
  const desks = await startDesks();
  const { holder, jobId } = desks;
  holder.driverCache.note(jobId, desks.driver.driver);
  holder.guests.placed({ jobId, nodeId: 'node-1', attempt: 1, use: USE });
  const { recorded } = holder.state;
  expect(recorded.splice(0)).toEqual(['node-1 placed']);
  return { ...desks, recorded };
}

const SUCCEEDED = `node-1 succeeded ${USE.types}`;

describe('an assignment from another instance', () => {
  it.each(['acknowledges', 'does not acknowledge'])(
    'is counted by the holder of a node that %s, and its driver hears so',
    async (how) => {
      const { holder, job, deliver } = await startDriverAndHolder();
      if (how === 'acknowledges') holder.acknowledging.add('node-b');
      expect(await deliver()).toMatchObject({ kind: 'written', isCounted: true });
      expect(holder.guests).toEqual([{ jobId: job.jobId, nodeId: 'node-b', attempt: 1, use: USE }]);
    },
  );

  it('is for its driver to count if it does not say what it uses, or if it says it in words of another version', async () => {
    const { holder, job, deliver, settle, a } = await startDriverAndHolder();
    holder.acknowledging.add('node-b');
    const { need: _, ...unsaid } = job;
    const delivery = await deliver({ job: unsaid });
    expect(delivery).toMatchObject({ kind: 'written' });
    expect(delivery).not.toHaveProperty('isCounted');
    const body = { nodeId: 'node-b', attempt: 1, expiresAt: Number.MAX_SAFE_INTEGER, driver: a.driver, job };
    for (const use of [null, 'asr', { types: ['asr'] }, { types: [1], services: [] }]) {
      const answered = a.bus.ask('b', { topic: 'assign', lane: job.jobId, body: { ...body, use } }, 1_000);
      await settle();
      expect(await answered).toMatchObject({ kind: 'written' });
    }
    expect(holder.guests).toEqual([]);
  });

  it('is not counted if it did not reach its node, or came too late', async () => {
    const { holder, jobs, job, deliver } = await startDriverAndHolder();
    holder.state.whileDelivering = async () => {
      jobs.assign(job.jobId, 'somebody/else');
    };
    expect((await deliver()).kind).toBe('unknown');
    holder.sockets.delete('node-b');
    expect((await deliver()).kind).toBe('undeliverable');
    expect(holder.guests).toEqual([]);
  });

  it('is no guest any more once it is withdrawn', async () => {
    const { driver, holder, job, settle } = await startDriverAndHolder();
    driver.link.cancel('node-b', job.jobId, 'superseded');
    await settle();
    expect(holder.withdrawn).toEqual([`node-b ${job.jobId}`]);
  });
});

describe('the result of a guest', () => {
  it('is counted as it leaves for its driver, which hears so; said again, it is not', async () => {
    const { holder, driver, answer, jobId, recorded, settle } = await startPlaced();
    await holder.handedOver.acknowledge(answer);
    await settle();
    expect(recorded).toEqual([]);
    for (let times = 0; times < 2; times += 1) {
      await holder.handedOver.finish(answer, RESULT);
      await settle();
    }
    expect(driver.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`, `${jobId} finished`]);
    expect([recorded, driver.state.saidCounted]).toEqual([[SUCCEEDED], [jobId]]);
  });

  it('is counted once it has left, if it had to be held', async () => {
    const { holder, driver, third, takeOver, answer, jobId, recorded, clock } = await startPlaced();
    await driver.instance.die();
    await holder.handedOver.finish(answer, RESULT);
    await clock.advance(3 * SOON_MS);
    expect([holder.held.size(), recorded]).toEqual([1, []]);
    takeOver(third);
    await clock.advance(SOON_MS);
    expect([third.state.saidCounted, recorded]).toEqual([[jobId], [SUCCEEDED]]);
  });

  const UNTRANSLATED = { ...RESULT, textAsr: 'hello', textTranslated: '' };

  it.each([
    ['has no translation', { result: UNTRANSLATED }],
    ['is of another attempt', { attempt: 2 }],
    ['is of another node', { nodeId: 'node-2' }],
    ['comes after the attempt was withdrawn', { isWithdrawn: true }],
    ['comes after a job may last', { waitMs: KEEP_MS }],
  ] as [
    string,
    { result?: JobResult; attempt?: number; nodeId?: string; isWithdrawn?: true; waitMs?: number },
  ][])(
    'is for its driver to judge if it %s',
    async (_, { result = RESULT, isWithdrawn, waitMs = 0, ...named }) => {
      const { holder, driver, answer, jobId, recorded, clock, settle } = await startPlaced();
      if (isWithdrawn) holder.guests.withdrawn('node-1', jobId);
      await clock.advance(waitMs);
      // Those that are too old go when they are counted.
      holder.guests.size();
      await holder.handedOver.finish({ ...answer, ...named }, result);
      await settle();
      expect(driver.state.told).toEqual([`${jobId} finished`]);
      expect([recorded, driver.state.saidCounted]).toEqual([[], []]);
    },
  );

  it('is for the engine to count if the job is driven here by now, or was heard over HTTP', async () => {
    const { holder, driver, answer, jobId, recorded, takeOver, outcomeOf, settle } = await startPlaced();
    await outcomeOf(holder.heard.finish(answer, RESULT));
    expect(driver.state.told).toEqual([`${jobId} finished`]);
    takeOver(holder);
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    expect(holder.state.told).toEqual([`${jobId} finished`]);
    expect([recorded, driver.state.saidCounted, holder.state.saidCounted]).toEqual([[], [], []]);
  });

  it('is nothing to count if it is a failure: its driver knows whom to blame', async () => {
    const { holder, driver, answer, jobId, recorded, settle } = await startPlaced();
    await holder.handedOver.fail(answer, { code: 'PROCESSING_ERROR', message: 'no' });
    await settle();
    expect(driver.state.told).toEqual([`${jobId} failed PROCESSING_ERROR`]);
    expect([recorded, holder.guests.size()]).toEqual([[], 0]);
  });

  it('may name no attempt, as of legacy nodes', async () => {
    const { holder, driver, answer, jobId, recorded, settle } = await startPlaced();
    await holder.handedOver.finish({ ...answer, attempt: ANY_ATTEMPT }, RESULT);
    await settle();
    expect([recorded, driver.state.saidCounted]).toEqual([[SUCCEEDED], [jobId]]);
  });
});

it('I11 bounded: of guests, the oldest is forgotten first, and any after as long as a job may last', async () => {
  const clock = createManualClock();
  const guests = createGuestAttempts({
    clock,
    keepMs: KEEP_MS,
    recordPlacement() {},
    recordSuccess() {},
  });
  const place = (at: number) => guests.placed({ jobId: `job-${at}`, nodeId: 'n', attempt: 1, use: USE });
  for (let at = 0; at <= MOST_NOTED; at += 1) place(at);
  const isCounted = (at: number) =>
    guests.marked({
      say: 'finished',
      answer: { jobId: `job-${at}`, nodeId: 'n', attempt: 1 },
      result: RESULT,
    }).answer.isCounted === true;
  expect([guests.size(), isCounted(0), isCounted(1)]).toEqual([MOST_NOTED, false, true]);
  await clock.advance(KEEP_MS);
  expect(guests.size()).toBe(0);
});
