/** One person in a room: a session, its captions and voices, and its microphone. */
import { openSession, type Person, type Room, type RoomEvents, RoomRefused } from '@lingua/sdk/client';
import { signal } from '@preact/signals';
import { token } from '../data/credentials.ts';
import { addressOf } from '../data/request.ts';
import { createCapture } from '../talk/capture.ts';
import { createLoudspeaker } from '../talk/loudspeaker.ts';
import { SAMPLE_RATE } from '../talk/voice/silero.ts';

export interface Wishes {
  readonly code: string;
  readonly name: string;
  /** Spoken and heard. */
  readonly language: string;
  readonly isListener: boolean;
  readonly hasVoice: boolean;
}

/** What the person reads: captions of others, and what was recognised of its own speech. */
export interface Line {
  readonly key: string;
  /** Undefined: it is the person's own. */
  readonly speaker: string | undefined;
  readonly text: string;
  readonly language: string;
  readonly isFinal: boolean;
  /** Why there is no text, or no translation. */
  readonly problem: string | undefined;
}

export type Phase =
  | { readonly kind: 'joining' | 'in' }
  | { readonly kind: 'over'; readonly reason: string; readonly message: string };

export type Attendance = ReturnType<typeof attend>;

const MOST_LINES = 200;

/** Called when the person presses a button: only then browsers allow sound. */
export function attend({ code, name, language, isListener, hasVoice }: Wishes) {
  const phase = signal<Phase>({ kind: 'joining' });
  const lines = signal<readonly Line[]>([]);
  const people = signal<readonly Person[]>([]);
  const isMuted = signal(false);
  const isConnected = signal(true);
  const isSpeaking = signal(false);
  /** Why something that the person did had no effect. */
  const problem = signal('');
  const context = hasVoice ? new AudioContext({ sampleRate: SAMPLE_RATE }) : undefined;
  const loudspeaker = context && createLoudspeaker(context);
  let room: Room | undefined;

  const session = openSession({
    url: addressOf('./'),
    ...(token.peek() !== '' && { token: token.peek() }),
    srcLang: language,
    tgtLang: language,
  });
  const capture = createCapture({
    begin() {
      isSpeaking.value = true;
    },
    send: (bytes) => void session.sendAudio(bytes),
    end() {
      isSpeaking.value = false;
      session.endUtterance();
    },
    isDeaf: () => isMuted.peek() || loudspeaker?.isPlaying === true,
    failed(message) {
      problem.value = message;
    },
  });

  function show(line: Line): void {
    const known = lines.peek();
    const isCorrection = known.some(({ key }) => key === line.key);
    lines.value = isCorrection
      ? known.map((each) => (each.key === line.key ? line : each))
      : [...known.slice(1 - MOST_LINES), line];
  }

  function end(reason: string, message: string): void {
    if (phase.peek().kind === 'over') return;
    phase.value = { kind: 'over', reason, message };
    capture.stop();
    void context?.close();
    void session.close('left the room');
  }

  session.on('open', () => {
    isConnected.value = true;
  });
  session.on('disconnected', () => {
    isConnected.value = false;
  });
  session.on('error', ({ code, message, isFatal }) => {
    if (isFatal) end(code, message);
  });
  session.on('result', ({ utteranceIndex, textAsr }) => {
    const key = `own ${utteranceIndex}`;
    if (textAsr !== '')
      show({ key, speaker: undefined, text: textAsr, language, isFinal: true, problem: undefined });
  });
  session.on('missing', (missing) => {
    const key = `own ${missing.utteranceIndex ?? missing.requestId}`;
    const why = missing.error?.message ?? missing.reason;
    show({ key, speaker: undefined, text: '', language, isFinal: true, problem: why });
  });

  function caption({
    seq,
    speakerName,
    text,
    textLanguage,
    isFinal,
    errorCode,
  }: RoomEvents['caption']): void {
    const speaker = speakerName ?? '';
    show({ key: `room ${seq}`, speaker, text, language: textLanguage, isFinal, problem: errorCode });
  }

  async function play({ audio, format }: RoomEvents['voice']): Promise<void> {
    if (audio.length === 0 || format === 'opus') return;
    await loudspeaker?.play(audio, () => room?.playing(true));
    room?.playing(false);
  }

  function changed(): void {
    people.value = room?.people ?? [];
    isMuted.value = people.peek().some((person) => person.isMe && person.isMuted);
    if (isMuted.peek()) capture.release();
  }

  async function join(): Promise<void> {
    try {
      room = await session.rooms.join(code, {
        name,
        ...(isListener ? { role: 'listener' } : { speaks: language }),
        hears: { language, voice: hasVoice },
      });
    } catch (error) {
      const isRefused = error instanceof RoomRefused;
      end(isRefused ? error.code : 'UNEXPECTED', isRefused ? error.message : String(error));
      return;
    }
    room.on('changed', changed);
    room.on('caption', caption);
    room.on('voice', (voice) => void play(voice));
    room.on('error', ({ message }) => {
      problem.value = message;
    });
    room.on('ended', ({ reason, message }) => end(reason, message));
    changed();
    phase.value = { kind: 'in' };
  }
  void join();

  return {
    title: () => room?.title,
    canSpeak: !isListener,
    phase,
    lines,
    people,
    isMuted,
    isConnected,
    isSpeaking,
    problem,
    capture,
    leave(): void {
      room?.leave();
      end('left', '');
    },
  };
}
