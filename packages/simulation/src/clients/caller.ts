/**
 * Simulation: a program that requests several languages of one utterance over HTTP, spoken or typed. It repeats the request under the same
 * id until each language has its answer.
 */

import type { SimulatedInstance, Translated } from '../instance/simulated-instance.ts';
import { speak } from '../speech.ts';
import { readStamped, readVoice } from '../stamped-text.ts';
import { type ClientDeps, nextArrivalMs, type SimulatedClient } from './client-world.ts';
import { partsOf, recordAsked, requestOfPart } from './parts.ts';

/** How long it repeats a request of which nothing was accepted. */
const TRY_MS = 25_000;
/** How long it repeats an accepted one: longer than every deadline. */
const ASK_MS = 120_000;
const AGAIN_MS = 250;
const LONGEST_MS = 4_000;
const WAIT_MS = 2_000;
const CALL_MS = WAIT_MS + 1_000;
/** Chances: that speech is wanted, that the text is typed, and that the request is sent to two instances at once. */
const SPOKEN = 0.3;
const TYPED = 0.4;
const HASTY = 0.05;

type Body = Parameters<SimulatedInstance['translate']>[0];
type Targets = Extract<Translated, { kind: 'answered' }>['targets'];
type Answered = Omit<Targets[number], 'voice' | 'tgt_lang'>;

export interface Wanted {
  /** How many of its target languages; absent: all. */
  readonly languages?: number;
  readonly isTyped: boolean;
  readonly isSpoken: boolean;
}

export function startCaller(
  deps: Omit<ClientDeps, 'languages'> & {
    /** Of its n-th request: the source, and the target languages. */
    readonly languages: (number: number) => readonly [string, ...string[]];
  },
): SimulatedClient & { ask(wanted: Wanted): void } {
  const { machine, world, chance, tenant, pool } = deps;
  const { clock, name: client } = machine;
  const { recorder } = world;
  const { record, now } = recorder;
  let isAsking = true;
  let number = 0;
  let underWay = 0;

  const sleep = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));

  async function translate(wanted: Wanted, isHasty: boolean): Promise<void> {
    number += 1;
    underWay += 1;
    const words = `many-${deps.requests}-${number}`;
    const utterance = `req-${words}`;
    const [source, ...targets] = deps.languages(number);
    const languages = targets.slice(0, wanted.languages);
    const voices = wanted.isSpoken ? languages : [];
    const parts = partsOf(utterance, wanted.isTyped ? 'text' : 'audio', languages, voices);
    recordAsked(recorder, parts, { client, words, tenant, pool });
    const body: Body = {
      session_id: `room-${deps.requests}`,
      tenant_id: tenant,
      src_lang: source,
      tgt_lang: languages[0] ?? '',
      tgt_langs: languages,
      request_id: utterance,
      wait_ms: WAIT_MS,
      ...(wanted.isTyped ? { text: words } : { audio: speak(words).toString('base64') }),
      ...(wanted.isSpoken && { options: { require_tts: true } }),
    };
    const open = new Set(parts.map((part) => requestOfPart(utterance, part)));
    await Promise.all([untilAnswered(utterance, body, open), isHasty && tryOnce(utterance, body, open)]);
    underWay -= 1;
  }

  async function untilAnswered(utterance: string, body: Body, open: Set<string>): Promise<void> {
    /** Answers that a repeat may better: no job was accepted. */
    const refusals = new Map<string, string>();
    let againMs = AGAIN_MS;
    let until = now() + TRY_MS;
    for (let isAccepted = false; open.size > 0 && now() < until; await sleep(againMs * (0.5 + chance()))) {
      const isAny = await tryOnce(utterance, body, open, refusals);
      if (isAny && !isAccepted) until = now() + ASK_MS;
      isAccepted ||= isAny;
      againMs = isAny ? AGAIN_MS : Math.min(2 * againMs, LONGEST_MS);
      if (isAccepted && open.size === refusals.size && now() > until - ASK_MS + TRY_MS) break;
    }
    for (const request of open) {
      const missing = refusals.get(request);
      if (missing === undefined) record({ kind: 'abandoned', client, request });
      else record({ kind: 'outcome', client, request, missing });
    }
  }

  /** Whether anything was accepted. */
  async function tryOnce(
    utterance: string,
    body: Body,
    open: Set<string>,
    refusals = new Map<string, string>(),
  ): Promise<boolean> {
    const askedAt = now();
    const asked = await world.ask(machine, CALL_MS, (instance) => instance.translate(body));
    if (asked === undefined) {
      record({ kind: 'unanswered', client, request: utterance, askedAt, why: 'no answer' });
      return false;
    }
    const { answer, instance } = asked;
    if (answer.kind === 'refused') {
      record({ kind: 'refused', client, request: utterance, code: answer.code, instance });
      return false;
    }
    let isAny = false;
    function take(request: string, { state, job_id: job, error }: Answered, text: string): void {
      if (!open.has(request)) return;
      if (state === 'failed' && job === undefined) {
        record({ kind: 'refused', client, request, code: error?.code ?? 'unknown', instance });
        refusals.set(request, error?.code ?? 'unknown');
        return;
      }
      isAny = true;
      refusals.delete(request);
      // Some instance accepted it; this one says so.
      record({ kind: 'accepted', client, request });
      if (state === 'open') return;
      open.delete(request);
      const outcome = { kind: 'outcome', client, request, ...(job !== undefined && { job }) } as const;
      if (state === 'done') record({ ...outcome, result: readStamped(text) });
      else record({ ...outcome, missing: error?.code ?? 'unknown' });
    }
    for (const { tgt_lang: language, voice, text_translated: text, ...answered } of answer.targets) {
      take(requestOfPart(utterance, { language, kind: 'text' }), answered, text ?? '');
      if (voice !== undefined)
        take(requestOfPart(utterance, { language, kind: 'voice' }), voice, readVoice(voice.tts_audio ?? ''));
    }
    return isAny;
  }

  function callOn(): void {
    clock.after(nextArrivalMs(chance, deps.perSecond), () => {
      if (!isAsking) return;
      const [typed, spoken, hasty] = [chance(), chance(), chance()];
      void translate({ isTyped: typed < TYPED, isSpoken: spoken < SPOKEN }, hasty < HASTY);
      callOn();
    });
  }

  callOn();
  return {
    machine,
    ask: (wanted) => void translate(wanted, false),
    stop() {
      isAsking = false;
    },
    isDone: () => underWay === 0,
    asked: () => number,
  };
}
