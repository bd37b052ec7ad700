/**
 * Simulation: a program that dispatches over HTTP. It repeats an unanswered request under the same request id, and polls until there
 * is an outcome.
 */
import { isSettled } from '../../../scheduler/dist/domain/job.js';
import type { SimulatedInstance } from '../instance/simulated-instance.ts';
import { speak } from '../speech.ts';
import { type ClientDeps, nextArrivalMs, resultOf, type SimulatedClient } from './client-world.ts';

/** How long it repeats a request that no instance accepts. */
const TRY_MS = 25_000;
/** How long it polls an accepted job: longer than every deadline. */
const ASK_MS = 120_000;
/** Right after a failover a record may be missing, but only until its driver has written it again. */
const TIMES_UNKNOWN = 5;
/** After a reply that is not an outcome; after a refusal twice as long each time, up to the longest. */
const AGAIN_MS = 250;
const LONGEST_MS = 4_000;
const WAIT_MS = 2_000;
/** A call takes as long as it may wait, plus the network delay. */
const CALL_MS = WAIT_MS + 1_000;
/** Chance that a request is sent to two instances at once, as a proxy does that retries too early. */
const HASTY = 0.05;

export function startDispatcher(deps: ClientDeps): SimulatedClient & { readonly dispatch: () => void } {
  const { machine, world, chance, tenant, pool } = deps;
  const { clock, name: client } = machine;
  const { record, now } = world.recorder;
  const [src_lang, tgt_lang] = deps.languages;
  let isSpeaking = true;
  let number = 0;
  let underWay = 0;

  const sleep = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));

  async function translate(isHasty: boolean): Promise<void> {
    number += 1;
    underWay += 1;
    // A client of another tenant uses the same words and the same request id.
    const words = `${deps.requests}-${number}`;
    const request = `req-${words}`;
    record({
      kind: 'asked',
      client,
      request,
      words,
      tenant,
      waitMs: WAIT_MS,
      ...(pool !== undefined && { pool }),
    });
    const body = {
      session_id: `room-${deps.requests}`,
      tenant_id: tenant,
      src_lang,
      tgt_lang,
      request_id: request,
      wait_ms: WAIT_MS,
      audio: speak(words).toString('base64'),
    };
    const hasty = isHasty ? dispatch(request, body) : undefined;
    // Either of the two answers counts.
    const job = (await accepted(request, body)) ?? (await hasty);
    if (job === undefined) record({ kind: 'abandoned', client, request });
    else await outcome(request, body, job);
    underWay -= 1;
  }

  /** Returns the job, or undefined if the request must be repeated. */
  async function dispatch(request: string, body: Body): Promise<string | undefined> {
    const about = { client, request, askedAt: now() };
    const asked = await world.ask(machine, CALL_MS, (instance) => instance.dispatch(body));
    if (asked === undefined) {
      record({ kind: 'unanswered', ...about, why: 'no answer' });
      return undefined;
    }
    const { answer, instance } = asked;
    if (answer.kind === 'refused') {
      record({ kind: 'refused', ...about, code: answer.code, instance });
      return undefined;
    }
    record({ kind: 'accepted', ...about, job: answer.job.jobId, instance });
    return answer.job.jobId;
  }

  async function accepted(request: string, body: Body): Promise<string | undefined> {
    let againMs = AGAIN_MS;
    for (const until = now() + TRY_MS; now() < until; againMs = Math.min(2 * againMs, LONGEST_MS)) {
      const job = await dispatch(request, body);
      if (job !== undefined) return job;
      await sleep(againMs * (0.5 + chance()));
    }
    return undefined;
  }

  async function outcome(request: string, body: Body, accepted: string): Promise<void> {
    let [job, unknown] = [accepted, 0];
    for (const until = now() + ASK_MS; now() < until; await sleep(AGAIN_MS)) {
      const asked = await world.ask(machine, CALL_MS, (instance) => instance.settled(job, WAIT_MS));
      const found = asked?.answer;
      unknown = asked !== undefined && found === undefined ? unknown + 1 : 0;
      // The job is unknown: a failover lost its record together with its driver. It is safe to send the same request again.
      if (unknown >= TIMES_UNKNOWN) job = (await dispatch(request, body)) ?? job;
      if (found === undefined || !isSettled(found.state)) continue;
      const result = resultOf(found);
      const missing = found.failure?.code ?? 'unknown';
      record({ kind: 'outcome', client, request, job, ...(result === undefined ? { missing } : { result }) });
      return;
    }
  }

  function speakUp(): void {
    clock.after(nextArrivalMs(chance, deps.perSecond), () => {
      if (!isSpeaking) return;
      void translate(chance() < HASTY);
      speakUp();
    });
  }

  speakUp();
  return {
    machine,
    dispatch: () => void translate(false),
    stop() {
      isSpeaking = false;
    },
    isDone: () => underWay === 0,
    asked: () => number,
  };
}

type Body = Parameters<SimulatedInstance['dispatch']>[0];
