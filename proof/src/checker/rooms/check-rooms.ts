/** R1 to R6, over what members of rooms and nodes saw. Pure. */
import type { Facts } from '../facts.ts';
import type { Allowances, Finding } from '../violation.ts';
import { checkCaptions } from './captions.ts';
import { checkDemand } from './demand.ts';
import { createExcuses } from './excuses.ts';
import { checkIndependence } from './independence.ts';
import { checkRoomsApart } from './isolation.ts';
import { checkRenditions } from './renditions.ts';
import { roomStories } from './room-stories.ts';

export function checkRooms(facts: Facts, allowances: Allowances): readonly Finding[] {
  const { history, stories } = facts;
  const told = roomStories(history, stories);
  if (told.rooms.length === 0) return [];
  const excuses = createExcuses(facts, allowances);
  return [
    { violations: [], counts: { rooms: told.rooms.length, 'utterances in rooms': told.saidIn.size } },
    checkCaptions(facts, told, excuses, allowances),
    checkRenditions(told, excuses, allowances, history.at(-1)?.at ?? 0),
    checkIndependence(facts, told, excuses, allowances),
    checkDemand(facts, told, excuses, allowances),
    checkRoomsApart(facts, told),
  ];
}
