/** Programs that dispatch over HTTP and do what may leave something behind: repeat, cancel, stop listening, request the impossible. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '@lingua/protocol';
import { speak } from '../../chaos/fleet/speech.ts';
import { call } from '../../chaos/wire/call.ts';
import type { Work } from './tally.ts';

export interface CallerOptions {
  readonly name: string;
  readonly chance: () => number;
  readonly work: Work;
  readonly perSecond: number;
  /** Of the instance that the next request goes to. */
  readonly port: () => number;
  readonly isOver: () => boolean;
}

/** Sizes on both sides of the limit for audio inside a message. */
const [SHORT_BYTES, LONG_BYTES] = [256, 6_000];
const WAIT_MS = 2_000;
const ASKS = 15;
const SETTLED = ['FINISHED', 'FAILED', 'RELEASED'];
/** More would be invented names; as many as there is room for are kept. */
const TENANTS = 40;
const MOODS = ['repeats', 'cancels', 'stops following', 'stops waiting', 'requests the impossible'] as const;
const MOODY = 0.45;

export async function callAgainAndAgain(options: CallerOptions): Promise<void> {
  const { chance, isOver } = options;
  const underWay = new Set<Promise<void>>();
  for (let number = 1; !isOver(); number += 1) {
    const done: Promise<void> = callOnce(options, `${options.name}-${number}`)
      // The scheduler's answers are judged elsewhere; here they only have to end.
      .catch(() => {
        options.work.refused += 1;
      })
      .finally(() => underWay.delete(done));
    underWay.add(done);
    // Poisson arrivals: the time of the next one is independent of the last.
    await sleep(Math.min(3_000, (-Math.log(1 - chance()) * 1_000) / options.perSecond));
  }
  await Promise.all(underWay);
}

async function callOnce({ chance, work, port }: CallerOptions, words: string): Promise<void> {
  const mood = chance() < MOODY ? MOODS[Math.floor(chance() * MOODS.length)] : undefined;
  const body = {
    session_id: `room-${words}`,
    src_lang: 'en',
    tgt_lang: mood === 'requests the impossible' ? 'tlh' : 'zh',
    request_id: `req-${words}`,
    tenant_id: `tenant-${Math.floor(chance() * TENANTS)}`,
    wait_ms: WAIT_MS,
    audio: speak(words, chance() < 0.5 ? SHORT_BYTES : LONG_BYTES).toString('base64'),
  };
  const dispatch = async (): Promise<string | undefined> => {
    const { body: said } = await call<{ job_id?: string }>(port(), 'POST', '/v1/dispatch/f2f', { body });
    return said.job_id;
  };
  work.dispatches += 1;
  const again = mood === 'repeats' ? dispatch().catch(() => undefined) : undefined;
  const job = (await dispatch()) ?? (await again);
  if (job === undefined) {
    work.refused += 1;
    return;
  }
  if (mood === 'cancels') {
    work.cancels += 1;
    await call(port(), 'POST', `/v1/job/${job}/cancel`, { body: { reason: 'not wanted any more' } });
  } else if (mood === 'stops following') {
    work.abandoned += 1;
    await followBriefly(port(), job, 20 + chance() * 200);
  } else if (mood === 'stops waiting') {
    work.abandoned += 1;
    await call(port(), 'GET', `/v1/job/${job}?wait_ms=${WAIT_MS}`, { timeoutMs: 30 }).catch(() => {});
  }
  const isDone = await outcome(port, job);
  work[isDone ? 'results' : 'missing'] += 1;
  if (mood === 'repeats') {
    // Also late: it gets the job that it had.
    work.repeats += 1;
    await dispatch();
  }
}

async function outcome(port: () => number, job: string): Promise<boolean> {
  for (let asked = 0; asked < ASKS; asked += 1) {
    const path = `/v1/job/${job}?wait_ms=${WAIT_MS}`;
    const { status, body } = await call<JobView>(port(), 'GET', path);
    if (status === 200 && SETTLED.includes(body.state)) return body.result?.success === true;
    if (status !== 200) await sleep(WAIT_MS / 10);
  }
  return false;
}

/** Opens the stream of a job's moves, and leaves without closing it. */
function followBriefly(port: number, job: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(
      { host: '127.0.0.1', port, path: `/v1/job/${job}/events`, agent: false },
      (response) => response.resume().on('error', () => {}),
    );
    sent.on('error', () => {});
    sent.on('close', resolve);
    setTimeout(() => sent.destroy(), ms);
    sent.end();
  });
}
