import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Groups,
  joinGroup,
  lastCodePoints,
  NO_GROUPS,
  notePlayed,
  noteText,
} from '../../../src/session/speech/groups.ts';

const SETTINGS = { windowMs: 2_000, maxParts: 8, maxChars: 800 };
const PLAYED_AT = 1_000_000;

const join = (groups: Groups, startedAt: number, name = 'new') =>
  joinGroup(groups, startedAt, SETTINGS, () => name);

const played = (name = 'g1', at = PLAYED_AT): Groups => notePlayed(join(NO_GROUPS, 0, name).groups, name, at);

describe('groups of utterances', () => {
  it('the first utterance begins a group as part 0 without context', () => {
    expect(join(NO_GROUPS, 5, 'g1')).toMatchObject({ groupId: 'g1', partIndex: 0, context: undefined });
  });

  it('an utterance within 2 s after playback joins the group', () => {
    expect(join(played(), PLAYED_AT)).toMatchObject({ groupId: 'g1', partIndex: 1 });
    expect(join(played(), PLAYED_AT + 2_000)).toMatchObject({ groupId: 'g1', partIndex: 1 });
    expect(join(played(), PLAYED_AT + 2_001)).toMatchObject({ groupId: 'new', partIndex: 0 });
  });

  it('an utterance before the end of playback begins a new group', () => {
    expect(join(played(), PLAYED_AT - 1)).toMatchObject({ groupId: 'new', partIndex: 0 });
    expect(join(join(NO_GROUPS, 0, 'g1').groups, 1)).toMatchObject({ groupId: 'new' });
  });

  it('a group has at most 8 parts', () => {
    let groups = played();
    const parts: string[] = [];
    for (let part = 1; part < 10; part++) {
      const joined = join(groups, PLAYED_AT, `g${part + 1}`);
      groups = joined.groups;
      parts.push(`${joined.groupId}.${joined.partIndex}`);
    }
    expect(parts.slice(0, 8)).toEqual(['g1.1', 'g1.2', 'g1.3', 'g1.4', 'g1.5', 'g1.6', 'g1.7', 'g9.0']);
  });

  it('a further part gets the text of the earlier ones as context', () => {
    let groups = noteText(played(), 'g1', 'good morning', SETTINGS);
    groups = noteText(groups, 'g1', 'how are you', SETTINGS);
    expect(join(groups, PLAYED_AT).context).toBe('good morning how are you');
  });

  it('an empty text does not extend the context', () => {
    let groups = noteText(played(), 'g1', 'hello', SETTINGS);
    groups = noteText(groups, 'g1', '', SETTINGS);
    expect(join(groups, PLAYED_AT).context).toBe('hello');
  });

  it('the context keeps the last 800 code points', () => {
    const groups = noteText(played(), 'g1', `${'old'.repeat(400)}${'😀'.repeat(799)}`, SETTINGS);
    expect(join(groups, PLAYED_AT).context).toBe(`d${'😀'.repeat(799)}`);
  });

  it('playback of a group that is no longer kept is ignored', () => {
    let groups = NO_GROUPS;
    for (let count = 0; count < 10; count++) groups = join(groups, count, `g${count}`).groups;
    expect(groups.length).toBeLessThanOrEqual(4);
    expect(notePlayed(groups, 'g0', PLAYED_AT)).toBe(groups);
    expect(noteText(groups, 'nobody', 'x', SETTINGS)).toBe(groups);
  });

  it('of two played groups the newest is joined', () => {
    const groups = notePlayed(join(played('g1'), PLAYED_AT - 1, 'g2').groups, 'g2', PLAYED_AT);
    expect(join(groups, PLAYED_AT + 1).groupId).toBe('g2');
  });
});

describe('the last code points of a text', () => {
  const character = fc.constantFrom('a', '中', '😀', '👨‍👩‍👧', '𝔘', 'é');

  it('the end of a text never splits a surrogate pair', () => {
    fc.assert(
      fc.property(fc.array(character, { maxLength: 30 }), fc.nat(40), (characters, max) => {
        const text = characters.join('');
        const last = lastCodePoints(text, max);
        expect(text.endsWith(last)).toBe(true);
        expect(Array.from(last).length).toBe(Math.min(max, Array.from(text).length));
        // Refuses half a pair.
        expect(() => encodeURIComponent(last)).not.toThrow();
      }),
    );
  });
});
