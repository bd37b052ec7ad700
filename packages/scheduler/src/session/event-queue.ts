/** Hot path: a session handles its events one after the other, including those that its own effects cause. */
import type { Clock } from '../ports/clock.ts';
import type { SlowWatch } from '../ports/slow-watch.ts';
import type { SessionEvent } from './event.ts';
import type { Session } from './session.ts';

export type Post = (session: Session, event: SessionEvent) => void;

export function createEventQueue(deps: {
  clock: Pick<Clock, 'now'>;
  slow?: SlowWatch | undefined;
  handle(session: Session, event: SessionEvent, at: number): void;
  /** Called when the queue is empty. */
  onEmptied(session: Session): void;
}): Post {
  const { clock, slow, handle, onEmptied } = deps;
  return function post(session, event) {
    session.queued.push(event);
    if (session.isHandlingEvents) return;
    session.isHandlingEvents = true;
    let begunAt: number | undefined;
    try {
      for (let next = session.queued.shift(); next !== undefined; next = session.queued.shift()) {
        const at = clock.now();
        // An event that arrived during an earlier one has waited at most since that one began.
        if (begunAt === undefined) begunAt = at;
        else slow?.waited('session_mailbox', at - begunAt);
        handle(session, next, at);
      }
    } finally {
      session.isHandlingEvents = false;
    }
    onEmptied(session);
  };
}
