/**
 * Rooms that are opened, in which people speak, lose connections, leave and come again, and which end: by their host, or because nobody
 * is left who speaks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  openSession,
  type Room,
  RoomRefused,
  type Session,
  type WebSocketConstructor,
} from '@lingua/sdk/client';
import { speak } from '../../chaos/fleet/speech.ts';
import { createBalancer } from '../../chaos/wire/balancer.ts';
import { BYTES, Plain, SETTLE_MS, TIMINGS, type VisitorOptions } from './visitors.ts';

const LANGUAGES = ['en', 'zh', 'en'];
const [ROUNDS_LEAST, ROUNDS_MORE] = [3, 6];
const PAUSE_MS = 900;
const [CUT, VANISHES, LEAVES, ENDS] = [0.05, 0.1, 0.1, 0.6];

/** One room after the other. */
export async function meetAgainAndAgain(options: VisitorOptions): Promise<void> {
  for (let meeting = 1; !options.isOver(); meeting += 1) {
    await meetOnce(options, `${options.name}-${meeting}`);
    await sleep(PAUSE_MS * options.chance());
  }
}

interface Person {
  readonly name: string;
  readonly language: string;
  readonly session: Session;
  readonly wire: Awaited<ReturnType<typeof createBalancer>>;
  room: Room | undefined;
}

async function meetOnce(options: VisitorOptions, name: string): Promise<void> {
  const { chance, work, isOver } = options;
  const people = await Promise.all(
    LANGUAGES.map((language, at) => arrive(options, `${name}-${at}`, language)),
  );
  const [host] = people as [Person];
  try {
    if (!(await enter(host, undefined, options))) return;
    const code = host.room?.code;
    for (const person of people.slice(1)) await enter(person, code, options);
    const rounds = ROUNDS_LEAST + Math.floor(chance() * ROUNDS_MORE);
    for (let round = 1; round <= rounds && !isOver(); round += 1) {
      for (const person of people) {
        if (person.room === undefined) await enter(person, code, options);
        else if (person !== host && chance() < LEAVES) {
          person.room.leave();
          continue;
        }
        person.session.sendUtterance(speak(`${person.name}-${round}`, BYTES));
        work.utterances += 1;
        if (chance() < CUT) person.wire.cut();
      }
      await sleep(PAUSE_MS * (0.5 + chance()));
    }
    const settled = people.map(({ session }) => session.settled());
    await Promise.race([Promise.all(settled), sleep(SETTLE_MS, undefined, { ref: false })]);
    // A room that is not ended is silent, and ends by itself.
    if (chance() < ENDS) host.room?.moderate.end();
  } finally {
    await Promise.all(people.map((person) => depart(person, options)));
  }
}

async function arrive(
  { chance, work, backends }: VisitorOptions,
  name: string,
  language: string,
): Promise<Person> {
  const wire = await createBalancer({ backends });
  const session = openSession({
    url: `http://127.0.0.1:${wire.port}`,
    srcLang: language,
    tgtLang: language,
    WebSocket: Plain as unknown as WebSocketConstructor,
    timings: TIMINGS,
    chance,
  });
  work.sessions += 1;
  session.on('open', ({ resumed }) => {
    if (resumed) work.resumed += 1;
  });
  session.on('result', () => {
    work.results += 1;
  });
  session.on('missing', () => {
    work.missing += 1;
  });
  session.on('error', () => {
    work.refused += 1;
  });
  return { name, language, session, wire, room: undefined };
}

/** False: it could not. Without a code it opens a room. */
async function enter(person: Person, code: string | undefined, { work }: VisitorOptions): Promise<boolean> {
  const { name, language, session } = person;
  const wishes = { name, speaks: language, hears: { language } };
  try {
    const { rooms } = session;
    const room = await (code === undefined ? rooms.create(wishes) : rooms.join(code, wishes));
    if (code === undefined) work.rooms += 1;
    person.room = room;
    room.on('caption', () => {
      work.captions += 1;
    });
    room.on('ended', () => {
      person.room = undefined;
    });
    return true;
  } catch (error) {
    if (!(error instanceof RoomRefused)) throw error;
    work.refused += 1;
    return false;
  }
}

async function depart({ session, wire }: Person, { chance, work }: VisitorOptions): Promise<void> {
  if (chance() < VANISHES) {
    work.vanished += 1;
    // From here on nothing reaches the scheduler: it must detect that by itself.
    wire.close();
  }
  await session.close();
  wire.close();
}
