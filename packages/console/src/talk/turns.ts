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
  readonly parts: readonly LatencyPart[];
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

type Known = SessionEvent<'accepted' | 'partial' | 'result' | 'missing'>;

/** The turn after an event about it. */
export function applyEvent(turn: Turn, event: Known, now: number): Turn {
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

function partsOf(turn: Turn, totalMs: number, timings: Readonly<Record<string, number>>): LatencyPart[] {
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
