/**
 * Cold path: drivers whose utterances have been open for long. The acceptance of an instance that was declared dead may arrive after its
 * rooms were taken over; nothing would end such an utterance, and every language would wait for it. Pure.
 */
import { isOpen, type RoomRouter } from './room-router.ts';

/** Longer than clocks differ and most utterances take. */
const OVERDUE_MS = 10_000;

export function overdueDrivers(
  { utterances }: Pick<RoomRouter, 'utterances'>,
  self: string,
  at: number,
): readonly string[] {
  const drivers = [...utterances.values()].flatMap((utterance) => {
    const { accept, driver } = utterance;
    const isOverdue = accept !== undefined && accept.acceptedAt + OVERDUE_MS <= at && isOpen(utterance);
    return isOverdue && driver !== undefined && driver !== self ? driver : [];
  });
  return [...new Set(drivers)];
}
