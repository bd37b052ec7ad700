/**
 * A program that requests several languages of one utterance over HTTP, spoken or typed: repeats the request under the same id until each
 * language has its answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TranslatePending, TranslateReply } from '@lingua/protocol';
import { partsOf, recordAsked, requestOfPart } from '../../../../packages/simulation/dist/clients/parts.js';
import { readStamped, readVoice } from '../../../../packages/simulation/dist/stamped-text.js';
import { LANGUAGE_OF_STAGES } from '../fleet/fleet-node.ts';
import { speak } from '../fleet/speech.ts';
import { createBalancer } from '../wire/balancer.ts';
import { call } from '../wire/call.ts';
import type { ChaosClient } from './client.ts';
import type { DispatcherOptions } from './dispatcher.ts';

/** How long it repeats a request of which nothing was accepted. */
const TRY_MS = 25_000;
/** How long it repeats an accepted one: longer than every deadline. */
const ASK_MS = 45_000;
const WAIT_MS = 2_000;
const AGAIN_MS = 250;
const BYTES = 1_200;
/** Chances: that the text is typed, that voices are wanted, and that the request is sent to two instances at once. */
const [TYPED, SPOKEN, HASTY] = [0.4, 0.3, 0.05];

type Target = NonNullable<TranslateReply['targets']>[number];
type Answered = Pick<Target, 'state' | 'job_id' | 'error'>;
type Reply = Partial<Pick<TranslateReply | TranslatePending, 'job_id' | 'targets'>> & {
  readonly error?: string;
};

export interface CallerOptions extends DispatcherOptions {
  /** Absent: some of them. */
  readonly isTyped?: boolean;
}

/** The languages that its requests name: whole nodes have all but one. */
export const wantedBy = ({ language }: DispatcherOptions['tenant']): readonly string[] => [
  'zh',
  language,
  LANGUAGE_OF_STAGES,
];

export async function startCaller(options: CallerOptions): Promise<ChaosClient> {
  const { name, recorder, chance } = options;
  const { name: tenant, clientToken: token } = options.tenant;
  const { record, now } = recorder;
  const wire = await createBalancer({ backends: options.backends });
  const languages = wantedBy(options.tenant);
  const underWay = new Set<Promise<void>>();
  let isCalling = true;
  let number = 0;

  async function callOn(): Promise<void> {
    while (isCalling) {
      await sleep(Math.min(3_000, (-Math.log(1 - chance()) * 1_000) / options.perSecond));
      if (!isCalling) return;
      number += 1;
      const done: Promise<void> = translate(number).finally(() => underWay.delete(done));
      underWay.add(done);
    }
  }

  async function translate(turn: number): Promise<void> {
    const words = `${name}-${turn}`;
    const utterance = `req-${options.requests}-${turn}`;
    const [typed, spoken, hasty] = [chance(), chance(), chance()];
    const isTyped = options.isTyped ?? typed < TYPED;
    const isSpoken = options.isTyped === undefined && spoken < SPOKEN;
    const parts = partsOf(utterance, isTyped ? 'text' : 'audio', languages, isSpoken ? languages : []);
    recordAsked(recorder, parts, { client: name, words, tenant, pool: tenant });
    const body = {
      session_id: `room-${name}`,
      src_lang: 'en',
      tgt_langs: languages,
      request_id: utterance,
      wait_ms: WAIT_MS,
      ...(isTyped ? { text: words } : { audio: speak(words, BYTES).toString('base64') }),
      ...(isSpoken && { options: { require_tts: true } }),
    };
    const open = new Set(parts.map((part) => requestOfPart(utterance, part)));
    await Promise.all([
      untilAnswered(utterance, body, open),
      hasty < HASTY && tryOnce(utterance, body, open),
    ]);
  }

  async function untilAnswered(utterance: string, body: object, open: Set<string>): Promise<void> {
    /** Answers that a repeat may better: no job was accepted. */
    const refusals = new Map<string, string>();
    let until = now() + TRY_MS;
    let refusedUntil = until;
    for (let isAccepted = false; open.size > 0 && now() < until; await sleep(AGAIN_MS * (1 + chance()))) {
      const isAny = await tryOnce(utterance, body, open, refusals);
      if (isAny && !isAccepted) {
        until = now() + ASK_MS;
        refusedUntil = now() + TRY_MS;
      }
      isAccepted ||= isAny;
      if (isAccepted && open.size === refusals.size && now() > refusedUntil) break;
    }
    for (const request of open) {
      const missing = refusals.get(request);
      if (missing === undefined) record({ kind: 'abandoned', client: name, request });
      else record({ kind: 'outcome', client: name, request, missing });
    }
  }

  /** Whether anything was accepted. */
  async function tryOnce(
    utterance: string,
    body: object,
    open: Set<string>,
    refusals = new Map<string, string>(),
  ): Promise<boolean> {
    const askedAt = now();
    let reply: Reply;
    try {
      const answer = await call<Reply>(wire.port, 'POST', '/v1/translate', { body, token });
      reply = answer.body;
    } catch (error) {
      record({
        kind: 'unanswered',
        client: name,
        request: utterance,
        askedAt,
        why: (error as Error).message,
      });
      return false;
    }
    const { targets, error: code = 'unknown' } = reply;
    if (targets === undefined) return refusedAll(utterance, reply.job_id, code, open);
    let isAny = false;
    function take(request: string, { state, job_id: job, error }: Answered, text: string): void {
      if (!open.has(request)) return;
      if (state === 'failed' && job === undefined) {
        record({ kind: 'refused', client: name, request, code: error?.code ?? 'unknown' });
        refusals.set(request, error?.code ?? 'unknown');
        return;
      }
      isAny = true;
      refusals.delete(request);
      record({ kind: 'accepted', client: name, request });
      if (state === 'open') return;
      open.delete(request);
      const outcome = { kind: 'outcome', client: name, request, ...(job !== undefined && { job }) } as const;
      if (state === 'done') record({ ...outcome, result: readStamped(text) });
      else record({ ...outcome, missing: error?.code ?? 'unknown' });
    }
    for (const { tgt_lang: language, voice, text_translated: text, ...answered } of targets) {
      take(requestOfPart(utterance, { language, kind: 'text' }), answered, text ?? '');
      if (voice !== undefined)
        take(requestOfPart(utterance, { language, kind: 'voice' }), voice, readVoice(voice.tts_audio ?? ''));
    }
    return isAny;
  }

  /** An error instead of targets: nothing was accepted, or, if it names a job, all languages have failed. */
  function refusedAll(utterance: string, job: string | undefined, code: string, open: Set<string>): boolean {
    if (job === undefined) {
      record({ kind: 'refused', client: name, request: utterance, code });
      return false;
    }
    for (const request of open) {
      record({ kind: 'accepted', client: name, request });
      record({ kind: 'outcome', client: name, request, missing: code });
    }
    open.clear();
    return true;
  }

  const calling = callOn();
  return {
    name,
    cut: wire.cut,
    delay: wire.delay,
    async finish() {
      isCalling = false;
      await calling;
      await Promise.all(underWay);
    },
    close: wire.close,
  };
}
