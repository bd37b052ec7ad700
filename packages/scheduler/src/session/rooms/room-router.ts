/**
 * Hot path: turns the log of a room into captions, per language in the order of `seq`. No language waits for another one (R2), and each promised
 * rendition gets one outcome (R1). Pure, except that it changes its own state.
 */
import { AUTO, type Language } from '../../domain/language.ts';
import type { PartOutcome } from '../../domain/plan.ts';
import type {
  LoggedEntry,
  LogLine,
  NumberedAccept,
  RoomEntry,
  RoomOutcome,
  Said,
} from '../../domain/room-log.ts';
import type { Caption } from './room-service.ts';

type Of<Kind extends LoggedEntry['kind']> = Extract<LoggedEntry, { kind: Kind }>;

export interface LoggedUtterance {
  readonly seq: number;
  accept: Of<'accept'> | undefined;
  text: Of<'text'> | undefined;
  readonly outcomes: Map<Language, RoomOutcome>;
  /** Languages that do not wait for it; ANY_LANGUAGE: none does, because it has no text. */
  readonly late: Set<Language>;
  driver: string | undefined;
  isErased: boolean;
}

interface LanguageOrder {
  /** The first utterance that it has not passed. */
  next: number;
  /** Passed without an end: `late` with a caption that will be corrected, `silent` without one. */
  readonly passed: Map<number, 'late' | 'silent'>;
  /** Since when a finished rendition waits for the one at `next`. */
  blockedSince: number | undefined;
}

export interface RoomRouter {
  readonly utterances: Map<number, LoggedUtterance>;
  readonly languages: Map<Language, LanguageOrder>;
  /** Numbers of the utterances that it knows; `firstSeq` > `lastSeq`: none. */
  firstSeq: number;
  lastSeq: number;
  /** Up to this number nothing is read again. */
  forgotten: number;
  /** Utterances that every language has passed are kept up to this number, for members that join. */
  readonly keep: number;
}

export const createRoomRouter = (keep = 64): RoomRouter => ({
  utterances: new Map(),
  languages: new Map(),
  firstSeq: 1,
  lastSeq: 0,
  forgotten: 0,
  keep,
});

const ANY_LANGUAGE = '';

type Standing =
  /** Without a caption: it is passed. */
  | { readonly kind: 'closed'; readonly caption?: Caption | undefined }
  | { readonly kind: 'late'; readonly caption: Caption }
  | { readonly kind: 'silent' }
  | { readonly kind: 'open' };

const CLOSED: Standing = { kind: 'closed' };
const OPEN: Standing = { kind: 'open' };
const SILENT: Standing = { kind: 'silent' };

/** What one utterance is in one language now. */
function standingOf(utterance: LoggedUtterance, language: Language): Standing {
  const { accept, text, outcomes, late } = utterance;
  // Its acceptance was trimmed from the log.
  if (accept === undefined || utterance.isErased) return CLOSED;
  if (text === undefined) {
    if (isNeverIn(accept, language)) return CLOSED;
    return late.has(ANY_LANGUAGE) ? SILENT : OPEN;
  }
  if (text.text === '') return CLOSED;
  if (text.language === language)
    return { kind: 'closed', caption: captionOf(accept, text, language, { text: text.text }) };
  if (!text.promised.some((one) => one.language === language)) return CLOSED;
  const outcome = outcomes.get(language);
  if (outcome?.kind === 'final')
    return {
      kind: 'closed',
      caption: captionOf(accept, text, language, { text: outcome.text, isTranslation: true }),
    };
  if (outcome?.kind === 'failed')
    return { kind: 'closed', caption: captionOf(accept, text, language, { failed: outcome.code }) };
  // A caption that was shown as late gets its end all the same.
  if (outcome?.kind === 'void')
    return late.has(language) ? { kind: 'closed', caption: captionOf(accept, text, language, {}) } : CLOSED;
  if (late.has(language))
    return { kind: 'late', caption: { ...captionOf(accept, text, language, {}), isFinal: false } };
  return late.has(ANY_LANGUAGE) ? SILENT : OPEN;
}

/** Known before its text is. */
function isNeverIn({ source, channel, promised }: Of<'accept'>, language: Language): boolean {
  if (channel !== undefined) return channel !== language;
  if (promised === undefined || source === AUTO) return false;
  return source !== language && !promised.some((one) => one.language === language);
}

/** Without `text`: the source text. */
function captionOf(
  accept: Of<'accept'>,
  spoken: Of<'text'>,
  language: Language,
  given: { text?: string; isTranslation?: boolean; failed?: string },
): Caption {
  return {
    seq: accept.seq,
    speaker: accept.speaker,
    speakerName: accept.speakerName,
    language,
    revision: 0,
    isTranslated: given.text !== undefined,
    isFinal: true,
    failed: given.failed,
    text: given.text ?? spoken.text,
    source:
      given.isTranslation || given.text === undefined
        ? { language: spoken.language, text: spoken.text }
        : undefined,
    startedAt: accept.startedAt,
    endedAt: accept.acceptedAt,
  };
}

/** Lines must come in the order of their positions. `at`: now. Returns the captions that become due. */
export function feed(router: RoomRouter, { entry }: LogLine, at: number): readonly Caption[] {
  const { seq } = entry;
  if (seq <= router.forgotten) return NOTHING;
  const utterance = router.utterances.get(seq) ?? begin(router, seq);
  note(utterance, entry);
  if (entry.kind === 'text')
    track(
      router,
      entry.promised.map(({ language }) => language),
      at,
    );
  const due: Caption[] = [];
  for (const [language, order] of router.languages) {
    revise(order, utterance, language, due);
    advance(router, order, language, at, due);
  }
  forget(router);
  return due;
}

const NOTHING: readonly Caption[] = [];

function begin(router: RoomRouter, seq: number): LoggedUtterance {
  if (seq < router.lastSeq) goBackTo(router, seq);
  const utterance: LoggedUtterance = {
    seq,
    accept: undefined,
    text: undefined,
    outcomes: new Map(),
    late: new Set(),
    driver: undefined,
    isErased: false,
  };
  router.firstSeq = router.lastSeq === 0 ? seq : Math.min(router.firstSeq, seq);
  router.utterances.set(seq, utterance);
  router.lastSeq = Math.max(router.lastSeq, seq);
  return utterance;
}

/** After a failover an utterance may be written again behind later ones. Languages that have only passed its missing number wait for it. */
function goBackTo(router: RoomRouter, seq: number): void {
  for (const order of router.languages.values()) {
    let next = seq + 1;
    while (next < order.next && !router.utterances.has(next)) next += 1;
    if (next === order.next) order.next = seq;
  }
}

/** What its speaker said is forgotten. Languages that waited for it go on. Returns the captions that become due. */
export function eraseFrom(router: RoomRouter, seqs: Iterable<number>, at: number): readonly Caption[] {
  for (const seq of seqs) {
    const utterance = router.utterances.get(seq);
    if (utterance !== undefined) markErased(utterance);
  }
  const due: Caption[] = [];
  for (const [language, order] of router.languages) advance(router, order, language, at, due);
  return due;
}

function markErased(utterance: LoggedUtterance): void {
  utterance.isErased = true;
  utterance.text = undefined;
  utterance.outcomes.clear();
}

function note(utterance: LoggedUtterance, entry: LoggedEntry): void {
  if (utterance.isErased) return;
  switch (entry.kind) {
    case 'accept':
      utterance.accept = entry;
      utterance.driver = entry.driver;
      break;
    case 'drive':
      utterance.driver = entry.driver;
      break;
    case 'text':
      utterance.text = entry;
      break;
    case 'outcome':
      utterance.outcomes.set(entry.language, entry.outcome);
      break;
    case 'late':
      utterance.late.add(entry.language ?? ANY_LANGUAGE);
      break;
    case 'erased':
      markErased(utterance);
      break;
    case 'voice':
      break;
  }
}

/** An utterance that the language has passed got its end, or its text. */
function revise(order: LanguageOrder, utterance: LoggedUtterance, language: Language, due: Caption[]): void {
  const before = order.passed.get(utterance.seq);
  if (before === undefined) return;
  const now = standingOf(utterance, language);
  if (now.kind === 'open' || now.kind === before) return;
  if (now.kind === 'closed') order.passed.delete(utterance.seq);
  else order.passed.set(utterance.seq, now.kind);
  if (now.kind !== 'silent' && now.caption !== undefined)
    due.push({ ...now.caption, revision: before === 'late' ? 1 : 0 });
}

function advance(
  router: RoomRouter,
  order: LanguageOrder,
  language: Language,
  at: number,
  due: Caption[],
): void {
  const before = order.next;
  for (; order.next <= router.lastSeq; order.next += 1) {
    const utterance = router.utterances.get(order.next);
    // After a failover numbers are left out.
    const now = utterance === undefined ? CLOSED : standingOf(utterance, language);
    if (now.kind === 'open') break;
    if (now.kind !== 'closed') order.passed.set(order.next, now.kind);
    if (now.kind !== 'silent' && now.caption !== undefined) due.push(now.caption);
  }
  if (order.next !== before) order.blockedSince = undefined;
  if (order.blockedSince === undefined && isWaitedFor(router, order, language)) order.blockedSince = at;
}

/** A later rendition is ready. */
function isWaitedFor(router: RoomRouter, { next }: LanguageOrder, language: Language): boolean {
  for (let seq = next + 1; seq <= router.lastSeq; seq += 1) {
    const utterance = router.utterances.get(seq);
    const now = utterance && standingOf(utterance, language);
    if (now?.kind === 'late' || (now?.kind === 'closed' && now.caption !== undefined)) return true;
  }
  return false;
}

/** From now on these languages have an order. What they have passed by now is not reported. */
export function track(router: RoomRouter, languages: Iterable<Language>, at: number): void {
  for (const language of languages) {
    if (router.languages.has(language)) continue;
    const order: LanguageOrder = { next: router.firstSeq, passed: new Map(), blockedSince: undefined };
    router.languages.set(language, order);
    advance(router, order, language, at, []);
  }
}

/** I11: what every language has passed is kept only for members that join. */
function forget(router: RoomRouter): void {
  while (router.utterances.size > router.keep) {
    const seq = router.firstSeq;
    const isNeeded = [...router.languages.values()].some(
      ({ next, passed }) => next <= seq || passed.has(seq),
    );
    if (isNeeded && router.utterances.size < MAX_OPEN) return;
    for (const order of router.languages.values()) {
      order.passed.delete(seq);
      if (order.next <= seq) order.next = seq + 1;
    }
    router.utterances.delete(seq);
    router.forgotten = seq;
    router.firstSeq = seq + 1;
  }
}

/** Utterances that one without an end may hold in memory. */
const MAX_OPEN = 4_096;

/** The renditions of this driver that a finished one has waited for long enough. */
export function lateEntries(
  router: RoomRouter,
  driver: string,
  at: number,
  reorderMs: number,
): readonly Extract<RoomEntry, { kind: 'late' }>[] {
  const late = new Map<string, Extract<RoomEntry, { kind: 'late' }>>();
  for (const [language, { next, blockedSince }] of router.languages) {
    const utterance = router.utterances.get(next);
    if (blockedSince === undefined || blockedSince + reorderMs > at || utterance?.driver !== driver) continue;
    const entry =
      utterance.text === undefined
        ? ({ kind: 'late', seq: next } as const)
        : ({ kind: 'late', seq: next, language } as const);
    late.set(`${next}/${entry.language ?? ANY_LANGUAGE}`, entry);
  }
  return [...late.values()];
}

/** When `lateEntries` has to be asked again, at the earliest. */
export function nextLateAt(router: RoomRouter, reorderMs: number): number | undefined {
  const since = [...router.languages.values()].flatMap(({ blockedSince }) => blockedSince ?? []);
  return since.length === 0 ? undefined : Math.min(...since) + reorderMs;
}

/** What a listener of the language has seen by now of the utterances after this one. The language must be tracked. */
export function captionsSoFar(router: RoomRouter, language: Language, afterSeq: number): readonly Caption[] {
  const order = router.languages.get(language);
  const captions: Caption[] = [];
  for (let seq = Math.max(afterSeq + 1, router.firstSeq); seq < (order?.next ?? 0); seq += 1) {
    const utterance = router.utterances.get(seq);
    const now = utterance && standingOf(utterance, language);
    if ((now?.kind === 'closed' || now?.kind === 'late') && now.caption !== undefined)
      captions.push(now.caption);
  }
  return captions;
}

/** What this router knows of the log, for a store that has lost it: an acceptance comes before the rest of its utterance. */
export function entriesOf(router: RoomRouter): readonly (RoomEntry | NumberedAccept)[] {
  return inOrder([...router.utterances.values()]).flatMap(({ seq, accept, text, outcomes, late, driver }) => {
    if (accept === undefined) return [];
    const drive =
      driver === undefined || driver === accept.driver
        ? []
        : [{ kind: 'drive', seq, driver, from: accept.driver } as const];
    const lates = [...late].map(
      (language) => ({ kind: 'late', seq, ...(language !== ANY_LANGUAGE && { language }) }) as const,
    );
    const ends = [...outcomes].map(
      ([language, outcome]) => ({ kind: 'outcome', seq, language, outcome }) as const,
    );
    // A `late` of the whole utterance is pointless behind its text.
    return [
      accept,
      ...drive,
      ...lates.filter(({ language }) => language === undefined),
      ...(text === undefined ? [] : [text]),
      ...lates.filter(({ language }) => language !== undefined),
      ...ends,
    ];
  });
}

/** What was erased, as far as this router knows it. */
export const erasedIn = (router: RoomRouter): readonly Said[] =>
  [...router.utterances.values()].flatMap(({ isErased, accept }) =>
    isErased && accept !== undefined ? [{ speaker: accept.speaker, utterance: accept.utterance }] : [],
  );

const inOrder = (utterances: readonly LoggedUtterance[]): readonly LoggedUtterance[] =>
  utterances.toSorted((one, other) => one.seq - other.seq);

/** Of a transcript: without a translation, in the language that was spoken. Undefined: nothing was said, or it is not finished. */
export function transcribed(utterance: LoggedUtterance, language: Language): Caption | undefined {
  const { accept, text } = utterance;
  if (accept === undefined || text === undefined || text.text === '' || utterance.isErased) return undefined;
  const now = standingOf(utterance, language);
  if (now.kind === 'open') return undefined;
  const caption = now.kind === 'closed' || now.kind === 'late' ? now.caption : undefined;
  return caption ?? captionOf(accept, text, language, {});
}

/** Its driver, or the one that takes it over, has something to append. */
export function isOpen({ accept, text, outcomes, isErased }: LoggedUtterance): boolean {
  if (accept === undefined || isErased) return false;
  return text === undefined || text.promised.some(({ language }) => !outcomes.has(language));
}

/** What the speaker gets. `text` is undefined if the utterance was erased. */
export function spokenOutcome(text: Of<'text'> | undefined): PartOutcome {
  if (text === undefined) return { kind: 'failed', code: 'JOB_CANCELLED', message: 'it was erased' };
  if (text.failed !== undefined)
    return { kind: 'failed', code: text.failed, message: 'it was not recognised' };
  const result = { textAsr: text.text, textTranslated: text.text, ttsAudio: '', ttsFormat: '' };
  return { kind: 'result', result, job: undefined };
}
