/**
 * The harness of real processes records what a broken scheduler would show, and the checker finds it; what proves nothing is not
 * counted.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { METRICS, type MetricEntry } from '../../../packages/scheduler/dist/domain/metrics.js';
import { createRecorder, type Recorder } from '../../../packages/simulation/dist/history.js';
import { startPeeker } from '../../src/chaos/clients/peeker.ts';
import { startNodeProcess } from '../../src/chaos/fleet/node-process.ts';
import { printChaos, summarise } from '../../src/chaos/report/summary.ts';
import { configOfRun } from '../../src/chaos/rig/configured.ts';
import { OPERATOR_TOKEN, TENANTS, type Tenant } from '../../src/chaos/tenants.ts';
import { LEVELS, levelsIn } from '../../src/chaos/watch/levels.ts';
import { storedLevels } from '../../src/chaos/watch/stored-levels.ts';
import { watchLevels } from '../../src/chaos/watch/watch-levels.ts';
import type { Backend } from '../../src/chaos/wire/balancer.ts';
import { checkHistory } from '../../src/checker/check-history.ts';
import { eventually } from '../../src/eventually.ts';

const [ACME, GLOBEX] = TENANTS as readonly [Tenant, Tenant];
const STILL = { workMs: () => 0, isClumsy: () => false, isSleepy: () => false };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A scheduler that gives this answer to every request. */
async function pretend(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<() => readonly Backend[]> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return () => [{ instance: 'i1.1', port: (server.address() as AddressInfo).port }];
}

/** A job of globex that is accepted. */
function recordJob(recorder: Recorder): void {
  const about = { client: 'c', request: 'r' };
  recorder.record({ kind: 'asked', ...about, tenant: GLOBEX.name, pool: GLOBEX.name, words: 'w' });
  recorder.record({ kind: 'accepted', ...about, job: 'j' });
}

const brokenIn = ({ history }: Recorder, invariant: string) =>
  checkHistory({ history }).violations.filter((each) => each.invariant === invariant);

async function peekAt(status: number, times: number): Promise<Recorder> {
  let asked = 0;
  const backends = await pretend((request, response) => {
    asked += request.headers.authorization === `Bearer ${ACME.clientToken}` ? 1 : 0;
    response.writeHead(status);
    // As a stream of events, which ends only with its job.
    response.flushHeaders();
    if (request.url?.endsWith('/events') !== true) response.end();
  });
  const recorder = createRecorder();
  recordJob(recorder);
  const peeker = await startPeeker({
    tenant: ACME,
    recorder,
    chance: () => 0.1,
    perSecond: 500,
    backends,
  });
  closing.push(() => peeker.stop());
  await eventually(() => asked >= times);
  await peeker.stop();
  return recorder;
}

describe('a job of another tenant', () => {
  it('that is returned is a violation, on every endpoint', async () => {
    const recorder = await peekAt(200, 8);
    const ways = recorder.history.flatMap((each) => (each.kind === 'peeked' ? each.how : []));
    expect(new Set(ways)).toEqual(new Set(['look', 'wait', 'events', 'cancel']));
    expect(brokenIn(recorder, 'I10 isolation')).toHaveLength(ways.length);
  });

  it('that is unknown is no violation', async () => {
    const recorder = await peekAt(404, 8);
    expect(checkHistory(recorder).counts['jobs read by other tenants']).toBeGreaterThan(0);
    expect(brokenIn(recorder, 'I10 isolation')).toEqual([]);
  });

  it.each([401, 403, 429, 503])('is not judged if the answer is %d', async (status) => {
    const recorder = await peekAt(status, 8);
    const finding = checkHistory(recorder);
    const summary = summarise(recorder.history, finding, { replay: '', latestMs: 0 });
    expect(summary.looks['jobs read by other tenants']).toBe(0);
    expect(printChaos(summary, recorder.history, finding)).toMatch(/read by other tenants +not judged/);
  });

  it('on a node of the own pool is a violation', () => {
    const recorder = createRecorder();
    recordJob(recorder);
    const own = { slots: 1, style: 'sdk', recorder, temper: STILL };
    startNodeProcess({ ...own, name: 'node-1', owner: GLOBEX }).assigned('j', 1);
    expect(brokenIn(recorder, 'I10 isolation')).toEqual([]);
    startNodeProcess({ ...own, name: 'node-2', owner: ACME }).assigned('j', 2);
    expect(brokenIn(recorder, 'I10 isolation')).toMatchObject([{ about: ['j', 'node-2'] }]);
  });
});

const config = configOfRun([1]);
const LIMIT = config.scheduler.max_inflight_jobs;

/** What /metrics of an idle instance returns, with these values instead. */
const metrics = (others: Readonly<Record<string, number>> = {}): string =>
  LEVELS.map((gauge) => `${gauge} ${others[gauge] ?? 0}`).join('\n');

async function watched(...texts: readonly string[]): Promise<Recorder> {
  let turn = 0;
  const backends = await pretend(({ url, headers }, response) => {
    const isAllowed = url === '/metrics' && headers.authorization === `Bearer ${OPERATOR_TOKEN}`;
    response.writeHead(isAllowed ? 200 : 401).end(texts[Math.min(turn++, texts.length - 1)]);
  });
  const recorder = createRecorder();
  const levels = watchLevels({ recorder, config, backends, isPatient: true });
  recorder.record({ kind: 'quiet' });
  await levels.settle();
  return recorder;
}

describe('a level', () => {
  it('over its limit is a violation', async () => {
    // As many again may have been taken over.
    const most = 2 * LIMIT;
    const recorder = await watched(metrics({ scheduler_jobs_inflight: most + 1 }), metrics());
    const message = `i1.1 has ${most + 1} of "scheduler_jobs_inflight" and may have ${most}`;
    expect(brokenIn(recorder, 'I11 bounded')).toMatchObject([{ message }]);
    expect(brokenIn(recorder, 'I2 no leak')).toEqual([]);
  });

  it('within its limit is no violation, and is judged', async () => {
    const recorder = await watched(metrics({ scheduler_jobs_inflight: LIMIT }), metrics());
    expect(brokenIn(recorder, 'I11 bounded')).toEqual([]);
    expect(checkHistory(recorder).judged['I11 bounded']).toBeGreaterThan(2 * LEVELS.length - 4);
  });

  it('that an instance no longer reports is a violation', () => {
    const recorder = createRecorder();
    const text = metrics().replace(/^scheduler_pending_node_reports 0$/m, '');
    for (const level of levelsIn(text, config, true))
      recorder.record({ kind: 'sampled', instance: 'i', ...level });
    expect(brokenIn(recorder, 'I11 bounded')).toMatchObject([
      { about: ['i', 'scheduler_pending_node_reports'] },
    ]);
  });

  it('of audio is judged at rest if there was time to wait', () => {
    const judged = (isPatient: boolean): boolean =>
      levelsIn(metrics(), config, isPatient).some(
        ({ gauge, atRest }) => gauge === 'scheduler_audio_store_bytes' && atRest === 0,
      );
    expect([judged(true), judged(false)]).toEqual([true, false]);
  });

  it('of one metric with too many label sets is a violation', () => {
    const wide = Array.from({ length: 252 }, (_, at) => `scheduler_retries_total{reason="${at}"} 1`);
    const over = levelsIn([metrics(), ...wide].join('\n'), config, true).filter(
      ({ value, limit }) => value > limit,
    );
    expect(over).toMatchObject([{ gauge: 'label sets of the widest metric', value: 252 }]);
  });

  it('of the store that is left at rest is a violation', () => {
    const recorder = createRecorder();
    recorder.record({ kind: 'quiet' });
    const left = { ttlMs: -1, size: 2, liveLeases: 2 };
    for (const level of storedLevels([{ name: 'v1:nodes:{node:n}:reserved', ...left }], config, 3))
      recorder.record({ kind: 'sampled', instance: 'store', ...level });
    expect(brokenIn(recorder, 'I2 no leak')).toMatchObject([{ about: ['store', 'live leases'] }]);
  });

  it('is watched for every gauge that has a limit', () => {
    const bounded = Object.entries<MetricEntry>(METRICS).flatMap(([name, { kind, limits = [] }]) =>
      kind === 'gauge' && limits.length > 0 ? name : [],
    );
    // The number of failures is bounded in time only.
    const levels = bounded.filter((name) => name !== 'scheduler_service_catalog_fail_count');
    expect(levels.filter((name) => !LEVELS.some((gauge) => gauge.startsWith(name)))).toEqual([]);
  });
});
