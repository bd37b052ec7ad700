/** Vocabulary of sessions: the two state tables of an utterance. Its outcome is the concern of delivery and independent of both. */

export const ACCEPTANCE_STATES = ['received', 'admitted', 'announced'] as const;
export type AcceptanceState = (typeof ACCEPTANCE_STATES)[number];

export const ACCEPTANCE_EVENTS = ['admitted', 'announced'] as const;
export type AcceptanceEvent = (typeof ACCEPTANCE_EVENTS)[number];

/** What the client may know of the acceptance. An absent entry means that the event changes nothing. */
export const ACCEPTANCE_NEXT: Readonly<
  Record<AcceptanceState, Partial<Record<AcceptanceEvent, AcceptanceState>>>
> = {
  received: { admitted: 'admitted' },
  admitted: { announced: 'announced' },
  announced: {},
};

export const WATCH_STATES = ['watched', 'abandoned', 'handed_over'] as const;
export type WatchState = (typeof WATCH_STATES)[number];

export const WATCH_EVENTS = ['abandoned', 'handed_over'] as const;
export type WatchEvent = (typeof WATCH_EVENTS)[number];

/** Whether the session of this instance waits for the job. An absent entry means that the event changes nothing. */
export const WATCH_NEXT: Readonly<Record<WatchState, Partial<Record<WatchEvent, WatchState>>>> = {
  watched: { abandoned: 'abandoned', handed_over: 'handed_over' },
  abandoned: {},
  handed_over: {},
};

export interface UtteranceState {
  acceptance: AcceptanceState;
  watch: WatchState;
}

/** False: the event changes nothing. */
export function moveAcceptance(utterance: UtteranceState, event: AcceptanceEvent): boolean {
  const next = ACCEPTANCE_NEXT[utterance.acceptance][event];
  if (next !== undefined) utterance.acceptance = next;
  return next !== undefined;
}

export function moveWatch(utterance: UtteranceState, event: WatchEvent): void {
  utterance.watch = WATCH_NEXT[utterance.watch][event] ?? utterance.watch;
}

/** Its job is recorded, or will never be. */
export const isAdmitted = ({ acceptance }: UtteranceState): boolean => acceptance !== 'received';
