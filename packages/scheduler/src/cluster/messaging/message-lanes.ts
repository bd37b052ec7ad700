/** Lanes of messages: messages of one lane are handled in order, lanes run concurrently. */
import type { InboxMessage } from '../../ports/inbox.ts';

export interface MessageLanes {
  /** A retried message is older than the messages that wait in its lane, so it goes before them. */
  add(message: InboxMessage): void;
  /** Messages that wait or are being handled. */
  size(): number;
}

export function createMessageLanes(deps: {
  laneOf: (body: string) => string;
  /** Never rejects. */
  handle: (message: InboxMessage) => Promise<void>;
}): MessageLanes {
  /** Messages that wait behind the one being handled. An idle lane has no entry. */
  const lanes = new Map<string, InboxMessage[]>();
  let size = 0;

  async function run(lane: string, waiting: InboxMessage[]): Promise<void> {
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
      await deps.handle(message);
      size -= 1;
    }
    lanes.delete(lane);
  }

  return {
    add(message) {
      size += 1;
      const lane = deps.laneOf(message.body);
      const waiting = lanes.get(lane);
      if (waiting !== undefined) return insert(waiting, message);
      const own = [message];
      lanes.set(lane, own);
      void run(lane, own);
    },
    size: () => size,
  };
}

const comesAgain = ({ deliveries }: InboxMessage): boolean => deliveries > 1;

function insert(waiting: InboxMessage[], message: InboxMessage): void {
  const firstNew = comesAgain(message) ? waiting.findIndex((other) => !comesAgain(other)) : -1;
  waiting.splice(firstNew < 0 ? waiting.length : firstNew, 0, message);
}
