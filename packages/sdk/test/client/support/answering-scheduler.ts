/** A scheduler script with resumable sessions, chunks known by seq, and an outcome for each utterance. */
import type {
  SchedulerToSession,
  SessionInit,
  SessionToScheduler,
  TranslationResult,
  UtteranceAccepted,
} from '@lingua/protocol';
import { ackOf, type Script } from './scripted-scheduler.ts';

interface Sealed {
  readonly acceptance: UtteranceAccepted;
  readonly outcome: TranslationResult;
}

interface Kept {
  readonly id: string;
  highestSeq: number;
  buffer: { readonly seq: number; readonly audio: Buffer; readonly requestId: string | undefined }[];
  readonly sealed: Sealed[];
  acknowledged: number;
  readonly requests: Set<string>;
}

type Reply = (message: SchedulerToSession) => void;

export interface AnsweringScript extends Script {
  /** Like a crash: all sessions are lost. */
  forget(): void;
}

export function createAnsweringScript(): AnsweringScript {
  const sessions = new Map<string, Kept>();
  let created = 0;

  function find(init: SessionInit): Kept | undefined {
    const { resume_session_id: id = '', resume_token: token } = init;
    return token === `token-of-${id}` ? sessions.get(id) : undefined;
  }

  function open(): Kept {
    created += 1;
    const session: Kept = {
      id: `s-${created}`,
      highestSeq: 0,
      buffer: [],
      sealed: [],
      acknowledged: 0,
      requests: new Set(),
    };
    sessions.set(session.id, session);
    return session;
  }

  function seal(session: Kept, reply: Reply): void {
    const { buffer } = session;
    session.buffer = [];
    const audio = Buffer.concat(buffer.map((each) => each.audio));
    const [first] = buffer;
    if (first === undefined || audio.length === 0) return;
    const index = session.sealed.length;
    const ids = { utterance_index: index, job_id: `job-${session.id}-${index}` };
    const sealed: Sealed = {
      acceptance: {
        type: 'utterance_accepted',
        ...ids,
        first_seq: first.seq,
        last_seq: buffer.at(-1)?.seq ?? first.seq,
        ...(first.requestId === undefined ? {} : { request_id: first.requestId }),
      },
      outcome: {
        type: 'translation_result',
        session_id: session.id,
        ...ids,
        text_asr: audio.toString(),
        text_translated: audio.toString().toUpperCase(),
        tts_audio: '',
        tts_format: 'pcm16',
        trace_id: '',
        delivery_seq: index + 1,
      },
    };
    session.sealed.push(sealed);
    reply(sealed.acceptance);
    reply(sealed.outcome);
  }

  function receive(message: SessionToScheduler, reply: Reply): void {
    if (message.type === 'session_init') {
      const resumed = find(message);
      for (const { acceptance, outcome } of resumed?.sealed.slice(resumed.acknowledged) ?? []) {
        reply(acceptance);
        reply(outcome);
      }
      return;
    }
    const session = 'session_id' in message ? sessions.get(message.session_id ?? '') : undefined;
    if (session === undefined) return;
    if (message.type === 'result_ack')
      session.acknowledged = Math.max(session.acknowledged, message.delivery_seq);
    else if (message.type === 'session_close') reply({ type: 'session_close_ack', session_id: session.id });
    else if (message.type === 'audio_chunk') {
      // A repeated chunk.
      if (message.seq <= session.highestSeq) return;
      session.highestSeq = message.seq;
      const audio = Buffer.from(message.payload ?? '', 'base64');
      session.buffer.push({ seq: message.seq, audio, requestId: message.request_id });
      if (message.is_final) seal(session, reply);
    }
  }

  return {
    answer: (init) => {
      const resumed = find(init);
      return resumed === undefined ? ackOf(open().id) : ackOf(resumed.id, { resumed: true });
    },
    onMessage: receive,
    forget: () => sessions.clear(),
  };
}
