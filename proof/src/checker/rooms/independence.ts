/** R2: a caption waits for earlier ones of its own language only. Pure. */
import type { Facts } from '../facts.ts';
import type { Allowances, Finding, Violation } from '../violation.ts';
import type { Excuses } from './excuses.ts';
import { type Caption, type Presence, type RoomStories, type RoomStory, textAt } from './room-stories.ts';

export function checkIndependence(
  { seen }: Pick<Facts, 'seen'>,
  { rooms }: RoomStories,
  excuses: Excuses,
  { flightMs, recoverMs, reorderMs, isExact }: Allowances,
): Finding {
  const violations: Violation[] = [];
  const soonMs = isExact ? flightMs : recoverMs;
  let [judged, longest] = [0, 0];

  for (const room of rooms) {
    const closed = closedIn(room);
    for (const { client, presences } of room.hearings)
      for (const presence of presences)
        for (const caption of firstFinals(presence)) judge(room, client, presence, caption, closed);
  }

  function judge(
    { room }: RoomStory,
    client: string,
    presence: Presence,
    caption: Caption,
    closedAt: ReturnType<typeof closedIn>,
  ): void {
    const { by } = caption.result;
    const doneAt = by && seen.doneBy(by, caption.at);
    if (by === undefined || doneAt === undefined || caption.missing !== undefined) return;
    if (doneAt < presence.from) return;
    const from = doneAt - flightMs;
    if (excuses.isDisturbed(from, caption.at) || excuses.isHit(client, from, caption.at)) return;
    if (excuses.isHit(by.node, from, caption.at)) return;
    const earlier = closedAt(caption);
    const waitedMs = caption.at - Math.max(doneAt, earlier.at);
    judged += 1;
    longest = Math.max(longest, waitedMs);
    if (waitedMs <= soonMs + earlier.passedOver * reorderMs) return;
    violations.push({
      invariant: 'R2 independence',
      at: caption.at,
      message: `${client} in room ${room} got caption ${caption.seq} ("${caption.result.words}") in ${caption.language} ${Math.round(waitedMs)} ms after it and all before it in that language were done`,
      about: [client, room, by.job],
    });
  }

  return {
    violations,
    counts: { 'longest from a rendition to its caption, ms': Math.round(longest) },
    judged: { 'R2 independence': judged },
  };
}

function firstFinals({ captions }: Presence): Caption[] {
  const seen = new Set<number>();
  return captions.filter(({ seq, isFinal }) => {
    if (!isFinal || seen.has(seq)) return false;
    seen.add(seq);
    return true;
  });
}

/**
 * When the language of a caption had passed those before it, and how many of them it had to wait for in vain: each for as long as a
 * caption may wait.
 */
function closedIn({ captions, utterances }: RoomStory) {
  const wordsOf = new Map(captions.map(({ seq, result }) => [seq, result.words]));
  const shownAt = new Map<string, number>();
  for (const { seq, language, at } of captions) {
    const key = `${seq} ${language}`;
    shownAt.set(key, Math.min(at, shownAt.get(key) ?? at));
  }

  return ({ seq, language, at }: Caption): { readonly at: number; readonly passedOver: number } => {
    let last = Number.NEGATIVE_INFINITY;
    let passedOver = 0;
    for (let each = seq - 1; each >= Math.max(1, seq - MOST_LOOKED); each -= 1) {
      const utterance = utterances.get(wordsOf.get(each) ?? '');
      const passed = shownAt.get(`${each} ${language}`) ?? (utterance && textAt(utterance));
      if (passed !== undefined && passed <= at) last = Math.max(last, passed);
      else passedOver += 1;
    }
    return { at: last, passedOver };
  };
}

/** More than a room has open at once. */
const MOST_LOOKED = 32;
