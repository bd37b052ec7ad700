/** A session and its scripted scheduler, both closed after the test, on a clock that the test steps. */
import type { MissingResult, TranslationResult, UtteranceAccepted } from '@lingua/protocol';
import { afterEach, expect } from 'vitest';
import { WebSocket } from 'ws';
import {
  openSession,
  type Session,
  type SessionEvent,
  type SessionEventName,
  type SessionOptions,
} from '../../../src/client/index.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { type Script, type ScriptedScheduler, startScriptedScheduler, until } from './scripted-scheduler.ts';

export const EVENTS: readonly SessionEventName[] = [
  'open',
  'accepted',
  'partial',
  'result',
  'voice',
  'missing',
  'uiEvent',
  'backpressure',
  'error',
  'disconnected',
  'reconnecting',
  'overflow',
  'draining',
  'closed',
];

export interface Started {
  readonly scheduler: ScriptedScheduler;
  readonly session: Session;
  readonly clock: ManualClock;
  /** All events, in order. */
  readonly events: SessionEvent[];
  of<Name extends SessionEventName>(name: Name): SessionEvent<Name>[];
  /** Breaks the connection and waits for the next one. */
  reconnect(): Promise<void>;
}

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Creates the session; the script decides whether it opens. */
export async function beginSession(
  options: Partial<SessionOptions> = {},
  script: Script = {},
): Promise<Started> {
  const scheduler = await startScriptedScheduler(script);
  const clock = createManualClock();
  const session = openSession({
    url: scheduler.url,
    srcLang: 'en',
    tgtLang: 'de',
    WebSocket,
    clock,
    chance: () => 0,
    onListenerError: (error) => expect.unreachable(String(error)),
    ...options,
  });
  const events: SessionEvent[] = [];
  for (const name of EVENTS) session.on(name, (event) => events.push(event));
  closers.push(scheduler.stop, () => {
    const ended = session.close();
    clock.advance(60_000);
    return ended;
  });
  const of = <Name extends SessionEventName>(name: Name): SessionEvent<Name>[] =>
    events.filter((event) => event.type === name) as unknown as SessionEvent<Name>[];
  return {
    scheduler,
    session,
    clock,
    events,
    of,
    async reconnect() {
      const opened = of('open').length;
      const lost = of('disconnected').length;
      if (session.state === 'open') scheduler.cut();
      await until(() => of('disconnected').length > lost);
      clock.advance(0);
      await until(() => of('open').length > opened);
      await scheduler.caughtUp();
    },
  };
}

export async function startSession(
  options: Partial<SessionOptions> = {},
  script: Script = {},
): Promise<Started> {
  const started = await beginSession(options, script);
  await until(() => started.session.state === 'open');
  return started;
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const accepted = (
  index: number,
  firstSeq: number,
  lastSeq: number,
  more: Partial<UtteranceAccepted> = {},
): UtteranceAccepted => ({
  type: 'utterance_accepted',
  utterance_index: index,
  job_id: `job-${index}`,
  first_seq: firstSeq,
  last_seq: lastSeq,
  ...more,
});

export const result = (index: number, more: Partial<TranslationResult> = {}): TranslationResult => ({
  type: 'translation_result',
  session_id: 's-1',
  utterance_index: index,
  job_id: `job-${index}`,
  text_asr: `heard ${index}`,
  text_translated: `said ${index}`,
  tts_audio: '',
  tts_format: 'pcm16',
  trace_id: 'trace-1',
  delivery_seq: index + 1,
  ...more,
});

export const missing = (index: number, more: Partial<MissingResult> = {}): MissingResult => ({
  type: 'missing_result',
  session_id: 's-1',
  utterance_index: index,
  reason: 'job_failed',
  created_at_ms: 1,
  delivery_seq: index + 1,
  ...more,
});
