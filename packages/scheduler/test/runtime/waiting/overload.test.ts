/** Overload: what cannot be in time is refused at once, the urgent class is served, and a tenant may prefer texts to refusals. */
import { describe, expect, it } from 'vitest';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import { nmtProduct } from '../../../src/domain/profile.ts';
import { createTenancy, equalTenancy, type TenantTerms } from '../../../src/domain/tenancy.ts';
import { createServiceRates } from '../../../src/runtime/queue/service-rates.ts';
import { createRig, need, profile, RESULT, type RigOptions } from '../rigs/rig.ts';

const JOB_MS = 1_000;
const STEP_MS = 125;

interface Ended {
  readonly request: Partial<DispatchRequest>;
  readonly outcome: DispatchOutcome;
  readonly afterMs: number;
  /** When it came, from the start of the run. */
  readonly at: number;
}

/** Nodes that work `JOB_MS` on each job, and requests at a steady rate. */
async function run(
  options: RigOptions,
  given: {
    seconds: number;
    slots: number;
    ask: (number: number) => Partial<DispatchRequest>;
    perStep: number;
  },
) {
  const rig = createRig(options);
  await rig.addNode('n1', given.slots);
  const ended: Ended[] = [];
  const finishes: { at: number; run: () => Promise<unknown> }[] = [];
  let [seen, number, owed] = [0, 0, 0];
  for (let step = 0; step * STEP_MS < given.seconds * 1_000; step += 1) {
    for (owed += given.perStep; owed >= 1; owed -= 1) {
      const request = given.ask(number++);
      const at = step * STEP_MS;
      const begunAt = rig.clock.now();
      void Promise.resolve(rig.service.dispatch(rig.request(request))).then((outcome) =>
        ended.push({ request, outcome, afterMs: rig.clock.now() - begunAt, at }),
      );
    }
    await rig.clock.advance(STEP_MS);
    for (; seen < rig.sent.length; seen += 1) {
      const { nodeId, attempt, job } = rig.sent[seen] as (typeof rig.sent)[number];
      const report = { nodeId, attempt, jobId: job.jobId };
      finishes.push({
        at: rig.clock.now() + JOB_MS - STEP_MS,
        run: () => rig.service.finish(report, RESULT),
      });
    }
    while ((finishes[0]?.at ?? Number.POSITIVE_INFINITY) <= rig.clock.now()) await finishes.shift()?.run();
  }
  return { rig, ended };
}

const isRefused = ({ outcome }: Ended): boolean => outcome.kind === 'refused';
const isHigh = ({ request }: Ended): boolean => request.priority === 'high';
const tenancy = (terms: Partial<TenantTerms> = {}) =>
  equalTenancy({ priority: 'high', maxWaiting: 1_000, ...terms });

describe('twice as many requests as the nodes serve', () => {
  /** 8 jobs per second are served, 16 come: one in ten of them is urgent. */
  const twice = {
    seconds: 30,
    slots: 8,
    perStep: 2,
    ask: (number: number) => ({ waitMs: 3_000, priority: number % 10 === 0 ? 'high' : 'normal' }) as const,
  };

  it('refuses at once, with an honest time, and keeps the nodes busy', async () => {
    const { ended, rig } = await run({ tenancy: tenancy() }, twice);
    const late = ended.filter(({ at }) => at > 10_000);
    const refused = late.filter(isRefused);
    expect(refused.length).toBeGreaterThan(late.length * 0.4);
    // Of those that are refused nearly none has waited in vain.
    const atOnce = refused.filter(({ afterMs }) => afterMs === 0);
    expect(atOnce.length).toBeGreaterThan(refused.length * 0.95);
    for (const { outcome } of atOnce) {
      expect(outcome).toMatchObject({ code: 'ALL_CANDIDATES_FULL_OR_FAILED' });
      const { retryAfterMs, message } = rig.refusal(outcome);
      expect(retryAfterMs).toBeGreaterThan(3_000);
      expect(retryAfterMs).toBeLessThan(8_000);
      expect(message).toMatch(/it would take at least \d\.\d s, and this one can wait 3\.0 s\.$/);
    }
    expect(late.filter((one) => isHigh(one) && isRefused(one))).toEqual([]);
    // 95 % of what the nodes could do since then, in jobs.
    expect(late.filter((one) => !isRefused(one)).length).toBeGreaterThan(0.95 * 8 * 17);
    expect(rig.counts.get('scheduler_jobs_too_late_total{refused}')).toBe(
      ended.filter((one) => isRefused(one) && one.afterMs === 0).length,
    );
  });

  it('lets jobs wait in vain if that is switched off', async () => {
    const { ended } = await run({ tenancy: tenancy(), settings: { refusesLate: false } }, twice);
    const refused = ended.filter(isRefused);
    expect(refused.length).toBeGreaterThan(100);
    expect(refused.every(({ afterMs }) => afterMs >= 3_000)).toBe(true);
  });

  it('refuses a class that gets no slot at all, and nobody else', async () => {
    const starved = {
      ...twice,
      ask: (number: number) => ({ waitMs: 3_000, priority: number % 2 === 0 ? 'high' : 'low' }) as const,
    };
    const { ended } = await run({ tenancy: tenancy() }, { ...starved, perStep: 2.4 });
    const late = ended.filter(({ at }) => at > 12_000);
    const low = late.filter((one) => !isHigh(one) && isRefused(one));
    expect(low.filter(({ afterMs }) => afterMs === 0).length).toBeGreaterThan(low.length * 0.8);
  });
});

it('a tenant with few jobs is served beside one with many', async () => {
  const { ended } = await run(
    { tenancy: tenancy() },
    {
      seconds: 30,
      slots: 8,
      perStep: 2,
      ask: (number) => ({ waitMs: 3_000, tenantId: number % 8 === 0 ? 'few' : 'many' }),
    },
  );
  const refused = ended.filter(isRefused);
  expect(refused.filter(({ request }) => request.tenantId === 'many').length).toBeGreaterThan(100);
  expect(refused.filter(({ request }) => request.tenantId === 'few')).toEqual([]);
});

it('nothing is refused early while the nodes suffice, or while none works', async () => {
  const enough = await run({}, { seconds: 20, slots: 8, perStep: 0.95, ask: () => ({ waitMs: 2_000 }) });
  expect(enough.ended.filter(isRefused)).toEqual([]);
  const rig = createRig();
  await rig.addNode('n1', 1);
  const { jobId } = await rig.dispatch();
  await rig.service.acknowledge(rig.last(jobId));
  const waits: Promise<DispatchOutcome>[] = [];
  for (let second = 0; second < 9; second += 1) {
    waits.push(Promise.resolve(rig.service.dispatch(rig.request({ waitMs: 20_000 }))));
    await rig.clock.advance(1_000);
  }
  // The node may only be reconnecting.
  expect(rig.service.waiting()).toBe(waits.length);
});

describe('a tenant that prefers texts to refusals', () => {
  const terms: TenantTerms = {
    quantum: 1,
    priority: 'normal',
    maxSessions: Number.POSITIVE_INFINITY,
    maxInflightJobs: Number.POSITIVE_INFINITY,
    maxWaiting: 1_000,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  };
  const tenancies = createTenancy(
    new Map([['acme', { ...terms, degrades: ['voice', 'partials'] as const }]]),
    terms,
    () => 1,
  );
  const spoken = need({ tenantId: 'acme', usesTts: true });

  async function busyRig() {
    const rig = createRig({ tenancy: tenancies });
    await rig.addNode('speaks', 1);
    await rig.addNode('mute', 1, profile({ tts: [] }));
    await rig.dispatch({ need: spoken, tenantId: 'acme' });
    const request = rig.request({ need: spoken, tenantId: 'acme' });
    const pipeline = { ...request.spec.pipeline, use_tts: true };
    return { rig, request: { ...request, spec: { ...request.spec, pipeline, enableStreamingAsr: true } } };
  }

  it('gets a text from a node without a voice, and the result says so', async () => {
    const { rig, request } = await busyRig();
    const { jobId, spec, fence } = await rig.dispatch(request);
    expect(fence?.nodeId).toBe('mute');
    expect(spec).toMatchObject({ degraded: ['voice', 'partials'], pipeline: { use_tts: false } });
    expect(spec.enableStreamingAsr).toBeUndefined();
    await rig.service.finish(rig.last(jobId), { ...RESULT, extra: { emotion: 'calm' } });
    expect((await rig.store.get(jobId))?.result?.extra).toEqual({
      emotion: 'calm',
      degraded: ['voice', 'partials'],
    });
  });

  it.each([
    ['if the client needs the voice', { isVoiceRequired: true }],
    ['if it does not allow that', { tenantId: 'other', need: { ...spoken, tenantId: 'other' } }],
  ])('gets a refusal %s', async (_, changed) => {
    const { rig, request } = await busyRig();
    const outcome = await rig.service.dispatch({ ...request, ...changed });
    expect(outcome).toMatchObject({ kind: 'refused', code: 'ALL_CANDIDATES_FULL_OR_FAILED' });
  });

  it('gets a refusal, and no text instead, if no node could ever speak the language', async () => {
    const { rig, request } = await busyRig();
    await rig.addNode('french', 1, profile({ tts: [], nmt: nmtProduct(['en'], ['fr']) }));
    const french = { ...spoken, directions: [{ source: 'en', target: 'fr' }] };
    const outcome = await rig.service.dispatch({ ...request, need: french });
    expect(outcome).toMatchObject({ kind: 'refused', code: 'NO_CAPABLE_NODE' });
  });
});

describe('the rate at which waiting jobs are served', () => {
  const serve = (rates: ReturnType<typeof createServiceRates>, count: number, everyMs: number, from = 0) => {
    for (let n = 1; n <= count; n += 1) {
      rates.left('zh', 'normal', true, from + n * everyMs);
      rates.joined('zh', 'normal', from + n * everyMs);
    }
    return from + count * everyMs;
  };

  it('is known after a second with five jobs, and only of that need and class', () => {
    const rates = createServiceRates();
    for (let n = 0; n < 20; n += 1) rates.joined('zh', 'normal', 0);
    const now = serve(rates, 4, 300);
    expect(rates.expectedWaitMs('zh', 'normal', 9, now)).toBeUndefined();
    const later = serve(rates, 96, 300, now);
    // Ten jobs at 300 ms each.
    expect(rates.expectedWaitMs('zh', 'normal', 9, later)).toBeGreaterThan(2_800);
    expect(rates.expectedWaitMs('zh', 'normal', 9, later)).toBeLessThan(3_100);
    expect(rates.expectedWaitMs('de', 'normal', 9, later)).toBeUndefined();
    expect(rates.expectedWaitMs('zh', 'high', 9, later)).toBeUndefined();
  });

  it('does not count time in which no job waits, and is forgotten after 30 s of it', () => {
    const rates = createServiceRates();
    rates.joined('zh', 'normal', 0);
    const now = serve(rates, 40, 100);
    const before = rates.expectedWaitMs('zh', 'normal', 9, now);
    rates.left('zh', 'normal', false, now);
    expect(rates.expectedWaitMs('zh', 'normal', 9, now + 20_000)).toBe(before);
    expect(rates.expectedWaitMs('zh', 'normal', 9, now + 60_000)).toBeUndefined();
  });
});
