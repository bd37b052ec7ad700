/** I6: a dispatch reads one snapshot and never waits for the cold path. Checked by structure, not by time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DispatchRequest } from '../../src/domain/dispatch.ts';
import { createRequirements } from '../../src/domain/requirements.ts';
import type { Registration } from '../../src/management/node-registry.ts';
import { buildDispatch } from '../../src/transport/http/requests/dispatch-request.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { composeCore } from './support/compose-core.ts';
import { AUDIO, configOf, startApp } from './support/start-app.ts';

const NODES = 3_000;
/** Nodes that one uninterrupted slice of the scan may check. */
const BATCH = 500;

const registration = (number: number): Registration => ({
  nodeId: `node-${number}`,
  credential: 'somebody',
  channel: 'mailbox',
  traits: { features: [], gpuCount: 1, supports: ['job_ack'] },
  report: { models: [] },
  slots: 4,
  health: 'ready',
});

const beat = (number: number) => ({ nodeId: `node-${number}`, resources: { runningJobs: 0 } });

const numbers = Array.from({ length: NODES }, (_, number) => number);

const require = createRequirements({});
let utterance = 0;
function request(): DispatchRequest {
  const built = buildDispatch(
    { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO },
    {
      tenantId: 'default',
      utteranceIndex: ++utterance,
      sessionId: '',
      traceId: 'trace-1',
      digest: (text) => text,
      require,
    },
  );
  if (built.kind === 'invalid') throw new Error(built.message);
  return built.request;
}

describe('I6: dispatch during cold work', () => {
  it('I6: a dispatch is decided during a scan of thousands of nodes', async () => {
    const clock = createManualClock();
    let lost = 0;
    const { registry, jobs } = composeCore({
      clock,
      config: configOf({
        'scheduler.heartbeat_stale_ms': 400,
        'scheduler.node_health.heartbeat_interval_seconds': 0.3,
        'scheduler.node_health.heartbeat_timeout_seconds': 0.9,
      }),
      onChange: (view) => {
        if (view.health === 'offline') lost += 1;
      },
    });
    for (const number of numbers) await registry.register(registration(number));
    await clock.advance(900);
    const last = NODES - 1;
    await registry.heartbeat(beat(last));

    // The scan begins: all nodes but one have missed their heartbeats.
    await clock.advance(100);
    expect(lost).toBe(BATCH);
    const outcome = await jobs.dispatch(request());
    expect(outcome.kind).toBe('dispatched');
    // The clock did not advance: the scan has not continued, and the dispatch did not need it.
    expect(lost).toBe(BATCH);

    const slices: number[] = [];
    while (lost < NODES - 1) {
      const before = lost;
      await clock.advance(1);
      slices.push(lost - before);
    }
    expect(Math.max(...slices)).toBeLessThanOrEqual(BATCH);
    expect(slices.filter((nodes) => nodes > 0)).toHaveLength(NODES / BATCH - 1);
    const only = await jobs.dispatch(request());
    expect(only.kind === 'dispatched' && only.job.fence?.nodeId).toBe(`node-${last}`);
    registry.stop();
    jobs.stop();
  });

  it('I6: a dispatch is decided although heartbeats wait for the ledger', async () => {
    const clock = createManualClock();
    let asked = 0;
    let answered = 0;
    const { registry, jobs } = composeCore({
      clock,
      config: configOf({}),
      coldLedger: {
        reconcile: () => {
          asked += 1;
          return new Promise(() => {});
        },
      },
    });
    for (const number of numbers) await registry.register(registration(number));
    for (const number of numbers) {
      void registry.heartbeat(beat(number)).then(() => {
        answered += 1;
      });
    }
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => jobs.dispatch(request())));
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 50 }, () => 'dispatched'));
    expect([asked, answered]).toEqual([NODES, 0]);
    registry.stop();
    jobs.stop();
  });

  it('I6: a dispatch over HTTP succeeds while thousands of nodes send heartbeats', async () => {
    // However slow the machine is, no heartbeat becomes stale.
    const app = await startApp({
      'scheduler.heartbeat_stale_ms': 600_000,
      'scheduler.node_health.heartbeat_timeout_seconds': 600,
    });
    const { registry } = app.app;
    for (const number of numbers) await registry.register(registration(number));
    let isOver = false;
    let beats = 0;
    onTestFinished(() => {
      isOver = true;
    });
    const beating = (async () => {
      while (!isOver) {
        const from = beats % NODES;
        await Promise.all(numbers.slice(from, from + 100).map((number) => registry.heartbeat(beat(number))));
        beats += 100;
        await nextTurn();
      }
    })();
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.tryDispatch()));
    isOver = true;
    await beating;
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(beats).toBeGreaterThan(0);
  });
});
