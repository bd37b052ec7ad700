/**
 * A program that dispatches over HTTP: repeats unanswered or refused requests under the same request id, and polls until there is an
 * outcome.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '@lingua/protocol';
import type { DeliveredResult, Recorder } from '../../../../packages/simulation/dist/history.js';
import { readResult } from '../../../../packages/simulation/dist/stamped-text.js';
import { speak } from '../fleet/speech.ts';
import type { Tenant } from '../tenants.ts';
import { type Backend, createBalancer } from '../wire/balancer.ts';
import { call } from '../wire/call.ts';
import type { ChaosClient } from './client.ts';

export interface DispatcherOptions {
  readonly name: string;
  readonly tenant: Tenant;
  /** The prefix of its request ids. They belong to the tenant: another tenant may use the same ones. */
  readonly requests: string;
  readonly recorder: Recorder;
  readonly chance: () => number;
  readonly perSecond: number;
  readonly backends: () => readonly Backend[];
}

/** How long it repeats a request that no instance accepts. */
const TRY_MS = 25_000;
/** How long it polls an accepted job: longer than every deadline. */
const ASK_MS = 45_000;
const AGAIN_MS = 250;
const SETTLED = ['FINISHED', 'FAILED', 'RELEASED'];
/** Sizes on both sides of the limit for audio inside a message. */
const [SHORT_BYTES, LONG_BYTES] = [256, 6_000];
/** Chance that a request is sent to two instances at once, as a proxy does that retries too early. */
const HASTY = 0.05;

export async function startDispatcher(options: DispatcherOptions): Promise<ChaosClient> {
  const { name, recorder, chance } = options;
  const { name: tenant, clientToken: token } = options.tenant;
  const { record, now } = recorder;
  const wire = await createBalancer({ backends: options.backends });
  const underWay = new Set<Promise<void>>();
  let isSpeaking = true;
  let number = 0;

  async function speakUp(): Promise<void> {
    while (isSpeaking) {
      // Poisson arrivals: the time of the next one is independent of the last.
      await sleep(Math.min(3_000, (-Math.log(1 - chance()) * 1_000) / options.perSecond));
      if (!isSpeaking) return;
      number += 1;
      const done: Promise<void> = translate(number).finally(() => underWay.delete(done));
      underWay.add(done);
    }
  }

  async function translate(turn: number): Promise<void> {
    const words = `${name}-${turn}`;
    const request = `req-${options.requests}-${turn}`;
    record({ kind: 'asked', client: name, tenant, pool: tenant, request, words });
    const body = {
      session_id: `room-${name}`,
      src_lang: 'en',
      tgt_lang: 'zh',
      request_id: request,
      wait_ms: 2_000,
      audio: speak(words, chance() < 0.5 ? SHORT_BYTES : LONG_BYTES).toString('base64'),
    };
    const hasty = chance() < HASTY ? dispatch(request, body) : undefined;
    // Either of the two answers counts.
    const job = (await accepted(request, body)) ?? (await hasty);
    if (job === undefined) record({ kind: 'abandoned', client: name, request });
    else await outcome(request, job);
  }

  /** Returns the job, or undefined if the request must be repeated. */
  async function dispatch(request: string, body: unknown): Promise<string | undefined> {
    const askedAt = now();
    const about = { client: name, request, askedAt };
    try {
      const { status, body: answer } = await call<{ job_id?: string; error?: string }>(
        wire.port,
        'POST',
        '/v1/dispatch/f2f',
        { body, token },
      );
      if (status === 200 && answer.job_id !== undefined) {
        record({ kind: 'accepted', ...about, job: answer.job_id });
        return answer.job_id;
      }
      record({ kind: 'refused', ...about, code: answer.error ?? String(status) });
    } catch (error) {
      record({ kind: 'unanswered', ...about, why: (error as Error).message });
    }
    return undefined;
  }

  async function accepted(request: string, body: unknown): Promise<string | undefined> {
    for (const until = now() + TRY_MS; now() < until; await sleep(AGAIN_MS * (1 + chance()))) {
      const job = await dispatch(request, body);
      if (job !== undefined) return job;
    }
    return undefined;
  }

  async function outcome(request: string, job: string): Promise<void> {
    for (const until = now() + ASK_MS; now() < until; ) {
      const view = await look(job);
      if (view !== undefined && SETTLED.includes(view.state)) {
        const result = resultOf(view);
        const missing = result === undefined ? { missing: view.reason ?? 'unknown' } : { result };
        record({ kind: 'outcome', client: name, request, job, ...missing });
        return;
      }
      if (view === undefined) await sleep(AGAIN_MS);
    }
  }

  async function look(job: string): Promise<JobView | undefined> {
    try {
      const { status, body } = await call<JobView>(wire.port, 'GET', `/v1/job/${job}?wait_ms=2000`, {
        token,
      });
      return status === 200 ? body : undefined;
    } catch {
      return undefined;
    }
  }

  const speaking = speakUp();
  return {
    name,
    cut: wire.cut,
    delay: wire.delay,
    async finish() {
      isSpeaking = false;
      await speaking;
      await Promise.all(underWay);
    },
    close: wire.close,
  };
}

export function resultOf({ result }: JobView): DeliveredResult | undefined {
  if (result?.success !== true) return undefined;
  return readResult(result);
}
