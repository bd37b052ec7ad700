/** Contract of RoomLog: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { AcceptedUtterance, RoomEntry } from '../../src/domain/room-log.ts';
import type { RoomFollowers } from '../../src/ports/room-followers.ts';
import type { RoomLog } from '../../src/ports/room-log.ts';
import { type Closable, fresh, perTest, type Timed, times } from './harness.ts';

/** Opened with these limits, unless a test gives others. */
export const LOG_LIMITS = { maxEntries: 20, maxAgeMs: 60_000 };
export type LogLimits = typeof LOG_LIMITS;

export interface RoomLogHarness extends Timed, Closable {
  readonly log: RoomLog;
  readonly followers: RoomFollowers;
}

export const utteranceOf = (
  utterance: string,
  parts: Partial<AcceptedUtterance> = {},
): AcceptedUtterance => ({
  utterance,
  speaker: 's-1',
  speakerName: 'Zoë "Z" 😀',
  source: 'en',
  startedAt: 1_700_000_000_000,
  acceptedAt: 1_700_000_002_000,
  driver: 'a/1',
  plan: {
    sessionId: 's-1',
    name: `s-1.${utterance}`,
    fingerprint: 'f',
    source: 'en',
    spec: {
      utteranceIndex: 1,
      audioFormat: 'pcm16',
      sampleRate: 16_000,
      traceId: 't',
      cut: 'manual',
    },
    need: { needsPublicNode: true },
    deadlineAt: 1_700_000_032_000,
    waitMs: 10_000,
  },
  ...parts,
});

export const textOf = (seq: number, text = 'hello'): RoomEntry => ({
  kind: 'text',
  seq,
  text,
  language: 'en',
  promised: [{ language: 'es', isVoiceWanted: false }],
});

export const finalOf = (seq: number, language = 'es', text = 'hola'): RoomEntry => ({
  kind: 'outcome',
  seq,
  language,
  outcome: { kind: 'final', text },
});

/** Whether a field is absent or undefined makes no difference. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

export function roomLogContract(name: string, open: (limits?: LogLimits) => Promise<RoomLogHarness>): void {
  describe(`RoomLog: ${name}`, () => {
    const start = perTest(open);

    async function opened(limits = LOG_LIMITS) {
      const harness = await start(limits);
      const roomId = fresh('r');
      await harness.log.open(roomId);
      const entries = async (after = 0, limit = 100) => {
        const read = await harness.log.read(roomId, after, limit);
        return read.kind === 'gone' ? read : read.lines.map(({ entry }) => plain(entry));
      };
      return { ...harness, roomId, entries };
    }

    it('numbers accepted utterances from 1 and keeps what they say', async () => {
      const { log, roomId, entries } = await opened();
      const accepted = [
        await log.accept(roomId, utteranceOf('s-1.0')),
        await log.accept(roomId, utteranceOf('s-2.0', { speaker: 's-2', channel: 'es' })),
      ];
      expect(accepted).toMatchObject([
        { kind: 'accepted', accept: { seq: 1 }, first: 1, last: 1, seq: 1 },
        { kind: 'accepted', accept: { seq: 2, speaker: 's-2' }, first: 1, last: 2, seq: 2 },
      ]);
      expect(await entries()).toEqual(
        plain([
          { kind: 'accept', seq: 1, ...utteranceOf('s-1.0') },
          { kind: 'accept', seq: 2, ...utteranceOf('s-2.0', { speaker: 's-2', channel: 'es' }) },
        ]),
      );
    });

    it('accepts an utterance once: a repeat gets its number and its driver', async () => {
      const { log, roomId, entries } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      await log.accept(roomId, utteranceOf('s-1.1'));
      const repeat = await log.accept(roomId, utteranceOf('s-1.0', { driver: 'b/1' }));
      expect(repeat).toMatchObject({ kind: 'accepted', accept: { seq: 1, driver: 'a/1' }, last: 2 });
      expect(await entries()).toHaveLength(2);
    });

    it('numbers concurrent utterances without repeats and without gaps', async () => {
      const { log, roomId } = await opened();
      const all = await Promise.all(times(8, (at) => log.accept(roomId, utteranceOf(`s-${at}.0`))));
      const seqs = all.map((one) => (one.kind === 'accepted' ? one.accept.seq : 0));
      expect(seqs.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('R1 keeps the first outcome of a language and returns it to later writers', async () => {
      const { log, roomId, entries } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      const first = await log.append(roomId, [textOf(1), finalOf(1)]);
      expect(first).toMatchObject({ kind: 'appended', last: 3, standing: [textOf(1), finalOf(1)] });
      const failed: RoomEntry = {
        kind: 'outcome',
        seq: 1,
        language: 'es',
        outcome: { kind: 'failed', code: 'X' },
      };
      const second = await log.append(roomId, [failed, finalOf(1, 'fr', 'salut')]);
      expect(second).toMatchObject({ last: 4, standing: [finalOf(1), finalOf(1, 'fr', 'salut')] });
      expect(await entries(3)).toEqual([finalOf(1, 'fr', 'salut')]);
    });

    it('appends no late entry behind the outcome, or the text, that it speaks of', async () => {
      const { log, roomId, entries } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      await log.append(roomId, [textOf(1), finalOf(1)]);
      const late = await log.append(roomId, [
        { kind: 'late', seq: 1, language: 'es' },
        { kind: 'late', seq: 1 },
        { kind: 'late', seq: 1, language: 'fr' },
      ]);
      expect(late).toMatchObject({ kind: 'appended', last: 4 });
      expect(late.kind === 'appended' && late.standing.map((one) => one?.kind)).toEqual([
        undefined,
        undefined,
        'late',
      ]);
      expect(await entries(3)).toEqual([{ kind: 'late', seq: 1, language: 'fr' }]);
    });

    it('lets one of several drivers continue the utterance of a dead one', async () => {
      const { log, roomId } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      const drive = (driver: string): RoomEntry => ({ kind: 'drive', seq: 1, driver, from: 'a/1' });
      const both = await Promise.all(['b/1', 'c/1'].map((driver) => log.append(roomId, [drive(driver)])));
      const drivers = both.map((one) => {
        const standing = one.kind === 'appended' ? one.standing[0] : undefined;
        return standing?.kind === 'drive' ? standing.driver : undefined;
      });
      expect(drivers[0]).toBe(drivers[1]);
    });

    it('reads ranges by position', async () => {
      const { log, roomId, entries } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      await log.append(roomId, [textOf(1), finalOf(1, 'es'), finalOf(1, 'fr')]);
      expect(await entries(1, 2)).toEqual([plain(textOf(1)), finalOf(1, 'es')]);
      expect(await log.read(roomId, 4, 10)).toEqual({ kind: 'read', lines: [], first: 1, last: 4, seq: 1 });
      const read = await log.read(roomId, 2, 10);
      expect(read.kind === 'read' && read.lines.map(({ position }) => position)).toEqual([3, 4]);
    });

    it('trims the oldest entries beyond its limit, with their keys', async () => {
      const { log, roomId } = await opened();
      for (let at = 0; at < LOG_LIMITS.maxEntries + 5; at += 1)
        await log.accept(roomId, utteranceOf(`s-1.${at}`));
      const read = await log.read(roomId, 0, 100);
      expect(read).toMatchObject({ kind: 'read', first: 6, last: 25, seq: 25 });
      expect(read.kind === 'read' && read.lines.map(({ position }) => position)).toEqual(
        times(20, (at) => 6 + at),
      );
      expect(await log.accept(roomId, utteranceOf('s-1.0'))).toMatchObject({ accept: { seq: 26 } });
    });

    it('trims entries that are too old', async () => {
      const { log, roomId, advance } = await opened({ ...LOG_LIMITS, maxAgeMs: 50 });
      // On a busy machine a log that lives for 50 ms has expired before it is told to live longer.
      do {
        await log.open(roomId);
        await log.expire(roomId, LOG_LIMITS.maxAgeMs);
      } while ((await log.read(roomId, 0, 1)).kind === 'gone');
      await log.accept(roomId, utteranceOf('s-1.0'));
      await advance(100);
      await log.accept(roomId, utteranceOf('s-1.1'));
      expect(await log.read(roomId, 0, 10)).toMatchObject({ first: 2, last: 2, lines: [{ position: 2 }] });
    });

    it('is gone before it is opened, after it expired, and after it was removed', async () => {
      const { log, roomId, advance } = await opened();
      const never = fresh('r');
      expect(await log.read(never, 0, 1)).toEqual({ kind: 'gone' });
      expect(await log.accept(never, utteranceOf('s-1.0'))).toEqual({ kind: 'gone' });
      expect(await log.append(never, [textOf(1)])).toEqual({ kind: 'gone' });
      await log.accept(roomId, utteranceOf('s-1.0'));
      await log.expire(roomId, 0);
      expect(await log.read(roomId, 0, 1)).toEqual({ kind: 'gone' });
      await log.open(roomId);
      await log.expire(roomId, 50);
      await advance(100);
      expect(await log.accept(roomId, utteranceOf('s-1.0'))).toEqual({ kind: 'gone' });
    });

    it('continues above the numbers that were given out before a loss', async () => {
      const { log, roomId } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      expect(await log.open(roomId, { last: 90, seq: 40 })).toMatchObject({ last: 90, seq: 40 });
      expect(await log.open(roomId, { last: 3, seq: 3 })).toMatchObject({ last: 90, seq: 40 });
      expect(await log.accept(roomId, utteranceOf('s-1.1'))).toMatchObject({ accept: { seq: 41 }, last: 91 });
      const read = await log.read(roomId, 0, 10);
      expect(read.kind === 'read' && read.lines.map(({ position }) => position)).toEqual([1, 91]);
    });

    it('takes acceptances that it has lost with their numbers, each once', async () => {
      const { log, roomId, entries } = await opened();
      const lost = { kind: 'accept', seq: 7, ...utteranceOf('s-1.6') } as const;
      await log.open(roomId, { last: 100, seq: 100 });
      expect(await log.append(roomId, [lost, textOf(7)])).toMatchObject({ last: 102, seq: 100 });
      expect(await log.append(roomId, [lost, finalOf(7)])).toMatchObject({ last: 103 });
      expect(await entries()).toEqual(plain([lost, textOf(7), finalOf(7)]));
      expect(await log.accept(roomId, utteranceOf('s-1.6'))).toMatchObject({ accept: { seq: 7 } });
      expect(await log.erase(roomId, { speaker: 's-1' })).toMatchObject({ utterances: 1 });
      expect(await log.accept(roomId, utteranceOf('s-1.7'))).toMatchObject({ accept: { seq: 101 } });
    });

    it('erases what one speaker said, and leaves the numbers', async () => {
      const { log, roomId, entries } = await opened();
      await log.accept(roomId, utteranceOf('s-1.0'));
      await log.accept(roomId, utteranceOf('s-2.0', { speaker: 's-2' }));
      await log.append(roomId, [textOf(1), finalOf(1), textOf(2)]);
      expect(await log.erase(roomId, { speaker: 's-1' })).toMatchObject({ utterances: 1 });
      expect(await entries()).toEqual(
        plain([
          { kind: 'erased', seq: 1 },
          { kind: 'accept', seq: 2, ...utteranceOf('s-2.0', { speaker: 's-2' }) },
          { kind: 'erased', seq: 1 },
          { kind: 'erased', seq: 1 },
          textOf(2),
        ]),
      );
      // Also an entry that the log did not have yet.
      const outcome = finalOf(1, 'fr');
      expect(await log.append(roomId, [finalOf(1), outcome])).toMatchObject({ last: 5 });
      expect(await entries(5)).toEqual([]);
      expect(await log.erase(roomId, { speaker: 's-9' })).toMatchObject({ utterances: 0 });
      expect(await log.accept(roomId, utteranceOf('s-1.0'))).toMatchObject({ accept: { seq: 3 }, last: 6 });
    });

    it('erases one utterance of a speaker, and names the followers', async () => {
      const { log, followers, roomId, entries } = await opened();
      await followers.add(roomId, 'a/1');
      for (const utterance of ['s-1.0', 's-1.1']) await log.accept(roomId, utteranceOf(utterance));
      await log.append(roomId, [textOf(1), textOf(2)]);
      const said = { speaker: 's-1', utterance: utteranceOf('s-1.1').utterance };
      expect(await log.erase(roomId, { ...said, speaker: 's-2' })).toMatchObject({ utterances: 0 });
      expect(await log.erase(roomId, said)).toEqual({ utterances: 1, followers: ['a/1'] });
      expect(await entries()).toMatchObject([
        { kind: 'accept', seq: 1 },
        { kind: 'erased', seq: 2 },
        { kind: 'text', seq: 1 },
        { kind: 'erased', seq: 2 },
      ]);
    });

    it('names the followers of the room with each append', async () => {
      const { log, followers, roomId } = await opened();
      await followers.add(roomId, 'a/1');
      await followers.add(roomId, 'b/1');
      await followers.add(roomId, 'a/1');
      const accepted = await log.accept(roomId, utteranceOf('s-1.0'));
      expect(accepted.kind === 'accepted' && [...accepted.followers].sort()).toEqual(['a/1', 'b/1']);
      await followers.remove(roomId, 'a/1');
      expect(await log.append(roomId, [textOf(1)])).toMatchObject({ followers: ['b/1'] });
    });
  });
}
