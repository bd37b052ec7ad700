/**
 * R1, R5: who is in the room when something is said gets it in the language that it hears, also if its connection breaks, and if an
 * instance or a master of the store dies meanwhile. Pure.
 */
import type { Allowances, Finding, Violation } from '../violation.ts';
import type { Excuses } from './excuses.ts';
import { type Hearing, type RoomStories, type RoomStory, textAt, type Utterance } from './room-stories.ts';

export function checkRenditions(
  { rooms }: RoomStories,
  excuses: Excuses,
  { deadlineMs, graceMs, flightMs, recoverMs, awayMs, messageMs, isExact }: Allowances,
  endsAt: number,
): Finding {
  const longestMs = deadlineMs + graceMs;
  const violations: Violation[] = [];
  const judged = { 'R1 one rendition': 0, 'R5 log survives': 0 };
  let excused = 0;

  /** A node has recognised it in time, or somebody got it. Undefined: there may be no text. */
  function knownAt(utterance: Utterance): number | undefined {
    const known = textAt(utterance);
    if (known !== undefined) return known;
    const { acceptedAt, askedAt, works } = utterance;
    if (acceptedAt === undefined) return undefined;
    const recognised = works.find(
      ({ stages, doneAt, node, assignedAt }) =>
        stages.includes('asr') &&
        doneAt !== undefined &&
        doneAt < askedAt + deadlineMs - recoverMs &&
        !excuses.isHit(node, assignedAt - flightMs, doneAt + flightMs) &&
        // An instance that dies before it could write a result has lost it.
        !excuses.isDisturbed(doneAt - flightMs, doneAt + flightMs),
    );
    return recognised?.doneAt;
  }

  /** It was in the room before, and stays for as long as a caption may take. */
  function isDue({ client, from, to, presences }: Hearing, utterance: Utterance, text: number): boolean {
    const { askedAt } = utterance;
    const enteredAt = presences[0]?.from ?? Number.POSITIVE_INFINITY;
    const knownMs = !isExact || excuses.isDisturbed(enteredAt, askedAt - flightMs) ? recoverMs : flightMs;
    if (client === utterance.client || enteredAt + knownMs > askedAt) return false;
    if (to < askedAt + longestMs || endsAt < askedAt + longestMs) return false;
    // Without a connection for that long it is no member any more.
    const isAway = presences.some(
      ({ to: lostAt }, at) =>
        lostAt < text + longestMs && (presences[at + 1]?.from ?? to) - lostAt >= awayMs - messageMs,
    );
    return !isAway && from <= askedAt;
  }

  const hasIt = ({ presences, language }: Hearing, { words }: Utterance): boolean =>
    presences.some(({ captions }) =>
      captions.some(
        (caption) => caption.isFinal && caption.language === language && caption.result.words === words,
      ),
    );

  function judge(room: RoomStory, hearing: Hearing, utterance: Utterance): void {
    const text = knownAt(utterance);
    if (text === undefined || !isDue(hearing, utterance, text)) return;
    const { askedAt, words, request, language } = utterance;
    const until = askedAt + longestMs;
    const invariant = excuses.isDisturbed(askedAt, until) ? 'R5 log survives' : 'R1 one rendition';
    judged[invariant] += 1;
    if (hasIt(hearing, utterance)) return;
    if (excuses.isLost(askedAt, until) || excuses.isListLost(askedAt, text)) {
      excused += 1;
      return;
    }
    violations.push({
      invariant,
      at: askedAt,
      message: `${hearing.client} in room ${room.room} never got "${words}", said in ${language}, in ${hearing.language}`,
      about: [hearing.client, utterance.client, request, room.room, ...utterance.works.map(({ job }) => job)],
    });
  }

  for (const room of rooms)
    for (const utterance of room.utterances.values())
      for (const hearing of room.hearings) judge(room, hearing, utterance);
  return { violations, counts: { 'renditions lost by a failover': excused }, judged };
}
