/** What was said and what came of it, from the events of a session. Pure. */
import type { SessionEvent } from '@lingua/sdk/client';

export interface LatencyPart {
  readonly name: 'upload' | 'asr' | 'nmt' | 'tts' | 'rest';
  readonly ms: number;
}

export interface Turn {
  readonly key: number;
  readonly side: 'a' | 'b';
  readonly source: string;
  readonly target: string;
  readonly requestId?: string;
  /** When the speaker ended it, by the browser's clock. */
  readonly endedAt?: number;
  readonly acceptedAt?: number;
  readonly jobId?: string;
  readonly partial: string;
  /** Translation of an unfinished sentence. */
  readonly draft: string;
  /** The scheduler may cut one turn into several utterances: the text of each, by its position. */
  readonly said: ReadonlyMap<number, string>;
  readonly heard: string;
  readonly translated: string;
  /** Texts in further languages. */
  readonly others: ReadonlyMap<string, string>;
  readonly problem?: string;
  readonly isSimulated: boolean;
  /** The translation has no voice. */
  readonly isSilent?: boolean;
  /** Not spoken. */
  readonly isTyped?: boolean;
  /** From the end of speech to the result. */
  readonly totalMs?: number;
  /** From the end of speech to the first sound of its translation. */
  readonly soundMs?: number;
  /** Of the time to the result. */
  readonly parts: readonly LatencyPart[];
  /** Making the speech, if the result did not wait for it. */
  readonly speechMs?: number;
}

export const newTurn = (key: number, side: 'a' | 'b', source: string, target: string): Turn => ({
  key,
  side,
  source,
  target,
  partial: '',
  draft: '',
  said: new Map(),
  heard: '',
  translated: '',
  others: new Map(),
  isSimulated: false,
  parts: [],
});

/** Simulated nodes say so. */
export const isSimulated = (extra: unknown): boolean =>
  (extra as { simulated?: unknown } | undefined)?.simulated === true;

export type TurnEvent = SessionEvent<'accepted' | 'partial' | 'result' | 'voice' | 'missing'>;

/** The turn after an event about it. */
export function applyEvent(turn: Turn, event: TurnEvent, now: number): Turn {
  switch (event.type) {
    case 'accepted':
      return { ...turn, jobId: event.jobId, acceptedAt: now };
    case 'partial':
      if (event.language === undefined) return { ...turn, partial: event.text };
      return event.language === turn.target ? { ...turn, draft: event.text } : turn;
    case 'missing':
      return withoutResult(turn, event);
    case 'result':
      return withResult(turn, event, now);
    case 'voice':
      return event.language === turn.target ? withVoice(turn, event.message) : turn;
  }
}

function withoutResult(turn: Turn, event: SessionEvent<'missing'>): Turn {
  const problem = event.error?.message ?? event.reason;
  // Without its sound, a text stays readable.
  if (event.part === 'voice') return { ...turn, isSilent: true };
  if (event.language === undefined || event.language === turn.target)
    return { ...turn, partial: '', draft: '', problem };
  return { ...turn, others: new Map(turn.others).set(event.language, '–') };
}

const join = (before: string, next: string): string =>
  before === '' || next === '' ? before + next : `${before} ${next}`;

function withResult(turn: Turn, event: SessionEvent<'result'>, now: number): Turn {
  const { message, language, utteranceIndex } = event;
  const said = new Map(turn.said).set(utteranceIndex, event.textAsr);
  const known: Turn = { ...turn, partial: '', said, heard: [...said.values()].reduce(join, '') };
  if (language !== undefined && language !== turn.target) {
    const text = join(turn.others.get(language) ?? '', event.textTranslated);
    return { ...known, others: new Map(turn.others).set(language, text) };
  }
  const extra = message.extra as
    | { simulated?: boolean; service_timings?: Record<string, number> }
    | undefined;
  const timings = {
    ...extra?.service_timings,
    ...(message.service_timings as Record<string, number> | undefined),
  };
  const totalMs = turn.endedAt === undefined ? undefined : now - turn.endedAt;
  return {
    ...known,
    jobId: message.job_id,
    translated: join(turn.translated, event.textTranslated),
    isSimulated: turn.isSimulated || isSimulated(extra),
    ...(totalMs !== undefined && { totalMs, parts: partsOf(turn, totalMs, timings) }),
  };
}

/** A text that did not wait for its voice says neither how it was made nor in which times; the voice says both. */
function withVoice(turn: Turn, { extra, service_timings: timings = {} }: Voice): Turn {
  const { totalMs, parts } = turn;
  const known: Turn = { ...turn, isSimulated: turn.isSimulated || isSimulated(extra) };
  const has = (name: LatencyPart['name']): boolean => parts.some((part) => part.name === name);
  if (totalMs === undefined || has('tts') || timings.tts_ms === undefined) return known;
  return {
    ...known,
    parts: has('nmt') ? parts : partsOf(turn, totalMs, { ...timings, tts_ms: 0 }),
    speechMs: timings.tts_ms,
  };
}

type Voice = SessionEvent<'voice'>['message'];

type Timings = Readonly<Record<string, number | undefined>>;

function partsOf(turn: Turn, totalMs: number, timings: Timings): LatencyPart[] {
  const upload = Math.max(0, (turn.acceptedAt ?? turn.endedAt ?? 0) - (turn.endedAt ?? 0));
  const named = (['asr', 'nmt', 'tts'] as const).map((name) => ({ name, ms: timings[`${name}_ms`] ?? 0 }));
  const known = upload + named.reduce((sum, { ms }) => sum + ms, 0);
  const parts: LatencyPart[] = [
    { name: 'upload', ms: upload },
    ...named,
    { name: 'rest', ms: Math.max(0, totalMs - known) },
  ];
  return parts.filter(({ ms }) => ms > 0);
}
