/**
 * Hot path: gathers outgoing messages per inbox. Messages of one turn of the event loop share a command, and so do messages that
 * are sent while a command is under way. They arrive in the order of the calls.
 */
export type Sent = 'sent' | 'full' | 'gone';

interface Waiting {
  readonly body: string;
  readonly settle: (sent: Sent) => void;
  readonly fail: (fault: unknown) => void;
}

interface Queue {
  readonly waiting: Waiting[];
  isSending: boolean;
}

/** A script must not block its server for long. */
const MOST_PER_COMMAND = 64;
const MOST_CHARS_PER_COMMAND = 256 * 1024;
/** At this number of waiting messages an inbox counts as full. */
const MOST_WAITING = 10_000;

export function createOutgoingMessages(
  send: (to: string, bodies: readonly string[]) => Promise<number | 'gone'>,
): (to: string, body: string) => Promise<Sent> {
  /** Only inboxes with a command under way or waiting messages. */
  const queues = new Map<string, Queue>();

  async function sendSome(to: string, some: readonly Waiting[]): Promise<void> {
    try {
      const sent = await send(
        to,
        some.map(({ body }) => body),
      );
      for (const [at, { settle }] of some.entries())
        settle(sent === 'gone' ? 'gone' : at < sent ? 'sent' : 'full');
    } catch (fault) {
      for (const { fail } of some) fail(fault);
    }
  }

  async function empty(to: string, queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) await sendSome(to, takeSome(queue.waiting));
    queues.delete(to);
  }

  function queueFor(to: string): Queue {
    const known = queues.get(to);
    if (known !== undefined) return known;
    const queue: Queue = { waiting: [], isSending: false };
    queues.set(to, queue);
    return queue;
  }

  return (to, body) =>
    new Promise((settle, fail) => {
      const queue = queueFor(to);
      if (queue.waiting.length >= MOST_WAITING) return settle('full');
      queue.waiting.push({ body, settle, fail });
      if (queue.isSending) return;
      queue.isSending = true;
      setImmediate(() => void empty(to, queue));
    });
}

/** As many as make one command, and at least one. */
function takeSome(waiting: Waiting[]): Waiting[] {
  let chars = waiting[0]?.body.length ?? 0;
  let count = 1;
  for (; count < Math.min(waiting.length, MOST_PER_COMMAND); count += 1) {
    chars += waiting[count]?.body.length ?? 0;
    if (chars > MOST_CHARS_PER_COMMAND) break;
  }
  return waiting.splice(0, count);
}
