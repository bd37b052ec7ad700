/**
 * Hot path: messages on their way out, gathered per inbox: those of one turn of the event loop are one command, and so are those
 * that come while one is under way. They arrive in the order they were given in.
 */
export type Sent = 'sent' | 'full' | 'gone';

interface Waiting {
  readonly body: string;
  readonly settle: (sent: Sent) => void;
  readonly fail: (fault: unknown) => void;
}

interface Bag {
  readonly waiting: Waiting[];
  isSending: boolean;
}

/** A script must not keep its server for long. */
const MOST_PER_COMMAND = 64;
const MOST_CHARS_PER_COMMAND = 256 * 1024;
/** Past that, whoever they are for takes no more as far as anybody here can tell. */
const MOST_WAITING = 10_000;

export function createOutgoingMessages(
  send: (to: string, bodies: readonly string[]) => Promise<number | 'gone'>,
): (to: string, body: string) => Promise<Sent> {
  /** Only of inboxes that something is on its way to. */
  const bags = new Map<string, Bag>();

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

  async function empty(to: string, bag: Bag): Promise<void> {
    while (bag.waiting.length > 0) await sendSome(to, takeSome(bag.waiting));
    bags.delete(to);
  }

  function bagFor(to: string): Bag {
    const known = bags.get(to);
    if (known !== undefined) return known;
    const bag: Bag = { waiting: [], isSending: false };
    bags.set(to, bag);
    return bag;
  }

  return (to, body) =>
    new Promise((settle, fail) => {
      const bag = bagFor(to);
      if (bag.waiting.length >= MOST_WAITING) return settle('full');
      bag.waiting.push({ body, settle, fail });
      if (bag.isSending) return;
      bag.isSending = true;
      setImmediate(() => void empty(to, bag));
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
