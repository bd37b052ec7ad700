/** R6: members get what was said in their room and nothing else, and a code opens a room of its own tenant only. Pure. */
import { ofKind } from '../../../../packages/simulation/dist/history.js';
import type { Facts } from '../facts.ts';
import type { Finding, Violation } from '../violation.ts';
import type { RoomStories } from './room-stories.ts';

export function checkRoomsApart(
  { history }: Pick<Facts, 'history'>,
  { rooms, saidIn }: RoomStories,
): Finding {
  const violations: Violation[] = [];
  let judged = 0;
  const found = (at: number, message: string, about: readonly string[]): void => {
    violations.push({ invariant: 'R6 rooms apart', at, message, about });
  };
  for (const { room, captions, hearings } of rooms)
    for (const { at, client, result } of captions) {
      const said = saidIn.get(result.words);
      judged += 1;
      if (!hearings.some((each) => each.client === client))
        found(at, `${client} got "${result.words}" of room ${room}, in which it never was`, [client, room]);
      if (said !== undefined && said.room.room !== room)
        found(at, `${client} in room ${room} got "${result.words}", said in room ${said.room.room}`, [
          client,
          said.utterance.client,
          room,
        ]);
    }
  const tries = ofKind(history, 'room_tried');
  for (const { at, client, tenant, room, didEnter } of tries) {
    judged += 1;
    if (didEnter)
      found(at, `${client} of ${tenant} entered room ${room}, which is of another tenant`, [client, room]);
  }
  return {
    violations,
    counts: { 'rooms tried by other tenants': tries.length },
    judged: { 'R6 rooms apart': judged },
  };
}
