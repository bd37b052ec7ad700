/** Contract of Inbox, for whoever listens: what it is told is handed out, and nobody else is given it. */
import { expect, it } from 'vitest';
import { type Inbox, type InboxMessage, LONGEST_TOLD, MOST_TOLD } from '../../src/ports/inbox.ts';
import { fresh, isPending, type Timed } from './harness.ts';

interface Opened extends Timed {
  readonly inbox: Inbox;
  /** Whose inbox is open. */
  readonly me: string;
  readonly isTelling?: boolean;
  /** What was handed out and not confirmed for long. */
  stuck(): ReturnType<Inbox['takeAgain']>;
}

const AT_ONCE = { max: 1_000, waitMs: 0 };
const bodies = (messages: readonly InboxMessage[]): string[] => messages.map(({ body }) => body);
const idsOf = (messages: readonly InboxMessage[]): string[] => messages.map(({ messageId }) => messageId);

export function inboxListening(start: () => Promise<Opened>): void {
  it('tells whoever listens what is sent, in order, once, with every character, and no reader', async () => {
    const opened = await start();
    if (opened.isTelling === false) return expectRead(opened);
    const { inbox, me, advance } = opened;
    const told: InboxMessage[] = [];
    await inbox.listen(me, (messages) => void told.push(...messages));
    const waiting = inbox.take(me, { max: 10, waitMs: 300 });
    expect(await isPending(waiting)).toBe(true);
    const sent = ['one', '{"text":"你好 👋\\n"}', '', ' x '.repeat(10_000)];
    for (const body of sent) expect(await inbox.send(me, body)).toBe('sent');
    await advance(400);
    expect(bodies(told)).toEqual(sent);
    expect(told.every(({ deliveries }) => deliveries === 1)).toBe(true);
    expect(await waiting).toEqual([]);
  });

  it('counts what it tells as handed out: it comes again unless it is confirmed', async () => {
    const opened = await start();
    if (opened.isTelling === false) return expectRead(opened);
    const { inbox, me, advance, stuck } = opened;
    const told: InboxMessage[] = [];
    await inbox.listen(me, (messages) => void told.push(...messages));
    for (const body of ['handled', 'forgotten']) await inbox.send(me, body);
    await advance(50);
    await inbox.confirm(me, idsOf(told).slice(0, 1));
    expect(await inbox.size(me)).toEqual({ messages: 1, handedOut: 1, dead: 0 });
    expect((await stuck()).messages).toMatchObject([{ body: 'forgotten', deliveries: 2 }]);
  });

  it('tells first what was sent before anybody listened, and nothing to whoever listens no more', async () => {
    const opened = await start();
    if (opened.isTelling === false) return expectRead(opened);
    const { inbox, me, advance } = opened;
    const told: InboxMessage[] = [];
    await inbox.send(me, 'before');
    const stop = await inbox.listen(me, (messages) => void told.push(...messages));
    await inbox.send(me, 'then');
    await advance(50);
    expect(bodies(told)).toEqual(['before', 'then']);
    const stopping = stop();
    await advance(50);
    await stopping;
    await inbox.send(me, 'after');
    await advance(50);
    expect(bodies(told)).toEqual(['before', 'then']);
    expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['after']);
  });

  it('leaves what is long, and what follows many that are not confirmed, to be taken, in its order', async () => {
    const opened = await start();
    if (opened.isTelling === false) return expectRead(opened);
    const { inbox, me, advance } = opened;
    const told: InboxMessage[] = [];
    await inbox.listen(me, (messages) => void told.push(...messages));
    const long = 'x'.repeat(LONGEST_TOLD + 1);
    await inbox.send(me, long);
    await advance(50);
    expect(told).toEqual([]);
    const [taken] = await inbox.take(me, AT_ONCE);
    expect(taken?.body).toBe(long);
    const sent = Array.from({ length: MOST_TOLD + 20 }, (_, at) => `message ${at}`);
    for (const body of sent) await inbox.send(me, body);
    await advance(100);
    expect(bodies(told)).toEqual(sent.slice(0, MOST_TOLD - 1));
    expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(sent.slice(MOST_TOLD - 1));
    const ids = idsOf(told);
    await inbox.confirm(me, ids);
    await inbox.send(me, 'told again');
    await advance(50);
    expect(bodies(told).at(-1)).toBe('told again');
  });

  it('tells nobody what is for another', async () => {
    const opened = await start();
    if (opened.isTelling === false) return expectRead(opened);
    const { inbox, me, advance } = opened;
    const told: InboxMessage[] = [];
    const other = fresh('instance');
    await inbox.open(other);
    await inbox.listen(me, (messages) => void told.push(...messages));
    await inbox.send(other, 'theirs');
    await advance(50);
    expect(told).toEqual([]);
    expect(bodies(await inbox.take(other, AT_ONCE))).toEqual(['theirs']);
  });
}

/** Whoever listens in vain has it wait, and reads it. */
async function expectRead({ inbox, me, advance }: Opened): Promise<void> {
  const told: InboxMessage[] = [];
  const stop = await inbox.listen(me, (messages) => void told.push(...messages));
  await inbox.send(me, 'not told');
  await advance(50);
  expect(told).toEqual([]);
  expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['not told']);
  await stop();
}
