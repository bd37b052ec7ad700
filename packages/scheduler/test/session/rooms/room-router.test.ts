/** The router of a room's log, by property: random interleavings of what drivers append. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRoomLog } from '../../../src/adapters/memory/room-log.ts';
import type { LogLine, RoomEntry, RoomOutcome } from '../../../src/domain/room-log.ts';
import {
  captionsSoFar,
  createRoomRouter,
  feed,
  lateEntries,
  nextLateAt,
  track,
} from '../../../src/session/rooms/room-router.ts';
import type { Caption } from '../../../src/session/rooms/room-service.ts';
import { acceptedBy } from './support/utterances.ts';

const LANGUAGES = ['de', 'en', 'es', 'fr'];

interface Spoken {
  readonly source: string;
  readonly text: string;
  readonly promised: readonly string[];
  readonly outcomes: readonly RoomOutcome[];
  /** Which of its languages are declared late, if they are open at some moment. */
  readonly late: readonly string[];
  readonly isLateWithoutText: boolean;
}

const spoken: fc.Arbitrary<Spoken> = fc.record({
  source: fc.constantFrom(...LANGUAGES),
  text: fc.constantFrom('hello', 'good day', ''),
  promised: fc.subarray(LANGUAGES),
  outcomes: fc.array(
    fc.constantFrom<RoomOutcome>(
      { kind: 'final', text: 'translated' },
      { kind: 'failed', code: 'NO_CAPABLE_NODE' },
      { kind: 'void' },
    ),
    { minLength: 4, maxLength: 4 },
  ),
  late: fc.subarray(LANGUAGES),
  isLateWithoutText: fc.boolean(),
});

/** Appends everything in a random order that drivers could have chosen: text before outcomes; the log refuses what is pointless. */
async function history(utterances: readonly Spoken[], order: readonly number[]): Promise<readonly LogLine[]> {
  const { log } = createRoomLog({ clock: { now: () => 1 }, maxEntries: 10_000, maxAgeMs: 1e9 });
  await log.open('r');
  const scripts = utterances.map(({ source, text, promised, outcomes, late, isLateWithoutText }, at) => {
    const seq = at + 1;
    const targets = promised.filter((language) => language !== source);
    const wanted = targets.map((language) => ({ language, isVoiceWanted: false }));
    const entries: RoomEntry[] = [];
    if (isLateWithoutText) entries.push({ kind: 'late', seq });
    entries.push({ kind: 'text', seq, text, language: source, promised: text === '' ? [] : wanted });
    if (text === '') return entries;
    for (const language of late)
      if (targets.includes(language)) entries.push({ kind: 'late', seq, language });
    for (const [nth, language] of targets.entries())
      entries.push({ kind: 'outcome', seq, language, outcome: outcomes[nth] as RoomOutcome });
    return entries;
  });
  for (const [at] of utterances.entries())
    await log.accept('r', acceptedBy('s', `u${at + 1}`, utterances[at]?.source));
  for (let turn = 0; scripts.some((left) => left.length > 0); turn += 1) {
    const open = scripts.filter((left) => left.length > 0);
    const script = open[(order[turn % order.length] ?? 0) % open.length] as RoomEntry[];
    await log.append('r', [script.shift() as RoomEntry]);
  }
  const read = await log.read('r', 0, 10_000);
  return read.kind === 'read' ? read.lines : [];
}

const rooms = fc.record({
  utterances: fc.array(spoken, { minLength: 1, maxLength: 7 }),
  order: fc.array(fc.nat(20), { minLength: 1, maxLength: 40 }),
});

function route(lines: readonly LogLine[], languages: readonly string[]): Caption[] {
  const router = createRoomRouter();
  track(router, languages, 0);
  return lines.flatMap((line) => feed(router, line, 0));
}

const of = (captions: readonly Caption[], language: string) =>
  captions.filter((one) => one.language === language);

describe('captions of a room', () => {
  it('R1: every promised rendition has one end, and nothing comes twice', async () => {
    await fc.assert(
      fc.asyncProperty(rooms, async ({ utterances, order }) => {
        const captions = route(await history(utterances, order), LANGUAGES);
        for (const [at, { source, text, promised, outcomes, late }] of utterances.entries())
          for (const language of LANGUAGES) {
            const mine = of(captions, language).filter(({ seq }) => seq === at + 1);
            const targets = promised.filter((one) => one !== source);
            const outcome = outcomes[targets.indexOf(language)];
            const isOwn = language === source && text !== '';
            const isPromised = targets.includes(language) && text !== '';
            const isVoid = outcome?.kind === 'void' && !late.includes(language);
            const revisions = mine.map(({ revision }) => revision);
            expect(revisions).toEqual([...new Set(revisions)].sort());
            expect(mine.filter(({ isFinal }) => isFinal)).toHaveLength(
              isOwn || (isPromised && !isVoid) ? 1 : 0,
            );
            if (mine.length > 0) expect(mine.at(-1)?.isFinal).toBe(true);
          }
      }),
    );
  });

  it('R1: each language is in the order of the room, except what had no text in time', async () => {
    await fc.assert(
      fc.asyncProperty(rooms, async ({ utterances, order }) => {
        const captions = route(await history(utterances, order), LANGUAGES);
        for (const language of LANGUAGES) {
          const first = of(captions, language)
            .filter(({ revision, seq }) => revision === 0 && !utterances[seq - 1]?.isLateWithoutText)
            .map(({ seq }) => seq);
          expect(first).toEqual([...first].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('R2: a language is the same, whatever becomes of the other languages', async () => {
    await fc.assert(
      fc.asyncProperty(rooms, fc.constantFrom(...LANGUAGES), async ({ utterances, order }, language) => {
        const lines = await history(utterances, order);
        const alone = lines.filter(
          ({ entry }) =>
            !('language' in entry) ||
            entry.kind === 'text' ||
            entry.language === undefined ||
            entry.language === language,
        );
        expect(of(route(lines, LANGUAGES), language)).toEqual(of(route(alone, LANGUAGES), language));
      }),
    );
  });

  it('R4: what was said in a language comes to its listeners untranslated', async () => {
    await fc.assert(
      fc.asyncProperty(rooms, async ({ utterances, order }) => {
        for (const caption of route(await history(utterances, order), LANGUAGES)) {
          const { source, text } = utterances[caption.seq - 1] as Spoken;
          if (caption.language === source)
            expect(caption).toMatchObject({ text, isTranslated: true, source: undefined });
        }
      }),
    );
  });

  it('a member that joins late gets what the others have', async () => {
    await fc.assert(
      fc.asyncProperty(rooms, fc.nat(30), async ({ utterances, order }, joinAt) => {
        const lines = await history(utterances, order);
        const live = createRoomRouter();
        track(live, LANGUAGES, 0);
        const before = lines.slice(0, joinAt).flatMap((line) => feed(live, line, 0));
        const late = createRoomRouter();
        for (const line of lines.slice(0, joinAt)) feed(late, line, 0);
        for (const language of LANGUAGES) {
          track(late, [language], 0);
          const last = new Map(of(before, language).map((caption) => [caption.seq, caption.text]));
          const have = captionsSoFar(late, language, 0).map(({ seq, text }) => [seq, text]);
          expect(have).toEqual([...last].sort(([a], [b]) => a - b));
        }
      }),
    );
  });
});

describe('a rendition that others wait for', () => {
  it('is declared late by its driver after the time to reorder, and only it', async () => {
    const lines = await history(
      [
        {
          source: 'en',
          text: 'one',
          promised: ['es', 'fr'],
          outcomes: [],
          late: [],
          isLateWithoutText: false,
        },
        { source: 'en', text: 'two', promised: ['es'], outcomes: [], late: [], isLateWithoutText: false },
      ].map((one) => ({
        ...one,
        outcomes: [{ kind: 'final', text: 'x' } as const, { kind: 'final', text: 'y' } as const],
      })),
      [0],
    );
    const router = createRoomRouter();
    track(router, LANGUAGES, 0);
    const isOpen = ({ entry }: LogLine) => entry.kind === 'outcome' && entry.seq === 1;
    for (const line of lines.filter((one) => !isOpen(one))) feed(router, line, 100);
    expect(nextLateAt(router, 1_500)).toBe(1_600);
    expect(lateEntries(router, 'a/1', 1_599, 1_500)).toEqual([]);
    expect(lateEntries(router, 'b/1', 1_600, 1_500)).toEqual([]);
    expect(lateEntries(router, 'a/1', 1_600, 1_500)).toEqual([{ kind: 'late', seq: 1, language: 'es' }]);
  });

  it('without a text is passed by all languages', async () => {
    const router = createRoomRouter();
    const { log } = createRoomLog({ clock: { now: () => 1 }, maxEntries: 100, maxAgeMs: 1e9 });
    await log.open('r');
    await log.accept('r', acceptedBy('s', 'u1', 'en'));
    await log.accept('r', acceptedBy('s', 'u2', 'en'));
    await log.append('r', [{ kind: 'text', seq: 2, text: 'two', language: 'en', promised: [] }]);
    track(router, ['en'], 0);
    const read = await log.read('r', 0, 10);
    if (read.kind === 'read') for (const line of read.lines) feed(router, line, 0);
    expect(lateEntries(router, 'a/1', 1_500, 1_500)).toEqual([{ kind: 'late', seq: 1 }]);
  });
});
