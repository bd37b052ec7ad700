/**
 * R3: no job translates into a language that no other member of the room hears. R4: nor into the language that was spoken. R6: and
 * all of them on nodes of the tenant. Pure.
 */
import { nameOf, ofKind } from '../../../../packages/simulation/dist/history.js';
import type { Facts } from '../facts.ts';
import type { Allowances, Finding, Invariant, Violation } from '../violation.ts';
import type { Excuses } from './excuses.ts';
import type { Hearing, RoomStories, RoomStory, RoomWork, Utterance } from './room-stories.ts';

/** Once a second an instance looks for languages that are not heard any more. */
const TICK_MS = 1_000;

export function checkDemand(
  { history }: Pick<Facts, 'history'>,
  { rooms }: RoomStories,
  excuses: Excuses,
  { deadlineMs, flightMs, recoverMs, unheardMs, awayMs, isExact }: Allowances,
): Finding {
  const violations: Violation[] = [];
  const judged = { 'R3 demand': 0, 'R4 own language': 0, 'R6 rooms apart': 0 };
  const poolOf = new Map(ofKind(history, 'node_up').map(({ node, pool }) => [node, pool]));

  /** Until when jobs may begin that serve it. */
  function heardUntil({ client, to, hasLeft }: Hearing): number {
    const isNoticed =
      isExact && hasLeft && !excuses.isDisturbed(to, to + unheardMs) && !excuses.isHit(client, to, to);
    return to + (isNoticed ? 0 : awayMs + recoverMs) + unheardMs + 2 * TICK_MS + flightMs;
  }

  const isHeard = (room: RoomStory, { client }: Utterance, { to, assignedAt }: RoomWork): boolean =>
    room.hearings.some(
      (each) =>
        each.client !== client &&
        each.language === to &&
        each.from <= assignedAt &&
        assignedAt <= heardUntil(each),
    );

  /** Another text is made from it, or would be if faults had not ended that. */
  const isPivot = (room: RoomStory, utterance: Utterance, work: RoomWork): boolean =>
    excuses.isDisturbed(work.assignedAt, work.assignedAt + deadlineMs) ||
    utterance.works.some(
      (other) => other.from === work.to && other.to !== work.to && isHeard(room, utterance, other),
    ) ||
    work.doneAt === undefined;

  for (const room of rooms)
    for (const utterance of room.utterances.values())
      for (const work of utterance.works) {
        const found = (invariant: Invariant, message: string): void => {
          violations.push({
            invariant,
            at: work.assignedAt,
            message: `${nameOf(work)} on ${work.node} ${message}: "${utterance.words}", said in ${utterance.language} in room ${room.room}`,
            about: [work.job, work.node, utterance.request, utterance.client],
          });
        };
        judged['R6 rooms apart'] += 1;
        if (utterance.pool !== undefined && poolOf.get(work.node) !== utterance.pool)
          found('R6 rooms apart', `is not of ${utterance.pool}`);
        if (!work.stages.includes('nmt')) continue;
        judged['R3 demand'] += 1;
        judged['R4 own language'] += 1;
        if (work.to === utterance.language || work.from === work.to)
          found('R4 own language', `translates into ${work.to}`);
        else if (!isHeard(room, utterance, work) && !isPivot(room, utterance, work))
          found('R3 demand', `translates into ${work.to}, which no other member hears`);
      }
  return { violations, counts: {}, judged };
}
