/**
 * People who talk through the client SDK, as its user would write it, and nodes that recognise their audio. Every
 * utterance is followed to its outcome.
 */
import { openSession, type Session, type SessionOptions } from '@lingua/sdk/client';
import type { NodeOptions } from '@lingua/sdk/node';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';

export interface Heard {
  readonly requestId: string | undefined;
  /** The recognised text; undefined: there is no translation. */
  readonly text: string | undefined;
  readonly translated: string | undefined;
  readonly reason: string | undefined;
}

export interface Talker {
  readonly session: Session;
  /** Spoken texts by request id, in order. */
  readonly said: ReadonlyMap<string, string>;
  readonly heard: readonly Heard[];
  readonly opened: readonly { readonly sessionId: string; readonly resumed: boolean }[];
  readonly errors: readonly string[];
  /** One utterance, in pieces or whole; the language is `a` or `b`. */
  say(language: 'a' | 'b', how: 'pieces' | 'whole'): void;
}

const PIECES = 4;
const PIECE_BYTES = 512;

/** Audio that names its speaker, language and number, repeated. */
const soundOf = (speaker: number, language: 'a' | 'b', number: number, bytes: number): Uint8Array =>
  Uint8Array.from(
    { length: bytes },
    (_, at) => [speaker, language === 'a' ? 10 : 11, number, 0][at % 4] ?? 0,
  );

/** The text of such audio. */
export const textOf = (sound: Uint8Array): string => `${sound[0]}/${sound[1] === 10 ? 'a' : 'b'}/${sound[2]}`;

/** Recognises the audio, and checks that all of it is of one utterance. */
export const understand =
  (workMs: () => number): NodeOptions['onJob'] =>
  async (_job, { audio, signal }) => {
    const sound = await audio();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, workMs());
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    });
    const text = textOf(sound);
    const isWhole =
      sound.every((byte, at) => byte === sound[at % 4]) && sound.length === PIECES * PIECE_BYTES;
    return {
      text_asr: isWhole ? text : `garbled ${text} (${sound.length})`,
      text_translated: `übersetzt ${text}`,
    };
  };

export function startTalker(
  speaker: number,
  options: Partial<SessionOptions> & { readonly url: string },
): Talker {
  const session = openSession({
    srcLang: 'auto',
    tgtLang: 'zh',
    mode: 'two_way_auto',
    langA: 'en',
    langB: 'zh',
    WebSocket,
    ...options,
    timings: { quickMs: 10, firstMs: 20, longestMs: 50, ackDelayMs: 5, ...options.timings },
  });
  onTestFinished(async () => {
    await session.close();
  });
  const said = new Map<string, string>();
  const heard: Heard[] = [];
  const opened: { sessionId: string; resumed: boolean }[] = [];
  const errors: string[] = [];
  session.on('open', ({ sessionId, resumed }) => opened.push({ sessionId, resumed }));
  session.on('error', ({ code }) => errors.push(code));
  session.on('result', ({ requestId, textAsr: text, textTranslated: translated }) =>
    heard.push({ requestId, text, translated, reason: undefined }),
  );
  session.on('missing', ({ requestId, reason }) =>
    heard.push({ requestId, text: undefined, translated: undefined, reason }),
  );
  let number = 0;

  return {
    session,
    said,
    heard,
    opened,
    errors,
    say(language, how) {
      number += 1;
      const sound = soundOf(speaker, language, number, PIECES * PIECE_BYTES);
      let requestId: string | undefined;
      if (how === 'whole') requestId = session.sendUtterance(sound);
      else {
        for (let at = 0; at < sound.length; at += PIECE_BYTES) {
          if (!session.sendAudio(sound.subarray(at, at + PIECE_BYTES)))
            throw new Error('the audio was not accepted');
        }
        requestId = session.endUtterance();
      }
      if (requestId === undefined) throw new Error('the utterance was not accepted');
      said.set(requestId, textOf(sound));
    },
  };
}
