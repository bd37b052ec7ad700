/** Rooms: how late captions reach many listeners, next to a bare broadcast of the same frames; commands to Redis; memory of members. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { type Figure, percentile } from '../measure.ts';
import { sharedFlags } from '../redis/app-contestant.ts';
import { type BenchRedis, startRedisServer } from '../redis/redis-server.ts';
import { watchWire } from '../redis/wire.ts';
import { logLine } from '../show.ts';
import type { Arrivals, ListenersOptions, Reported } from './listeners-process.ts';
import { startRoomNodes } from './room-nodes.ts';
import { type Speaker, startSpeaker } from './speaker.ts';

const SOURCE = 'en';
const LANGUAGES = ['es', 'fr', 'de', 'it', 'pt', 'nl', 'pl', 'sv', 'ja', 'zh'];
const INSTANCES = 3;
const FEW = 10;
const MANY = 1_000;
/** Until the last listeners have the last captions. */
const ARRIVE_MS = 60_000;
const POLL_MS = 50;

export interface RoomsOptions {
  /** Of one room; the first is judged. */
  readonly listeners: readonly [number, ...number[]];
  readonly utterances: number;
  /** From one utterance to the next. */
  readonly everyMs: number;
  readonly rooms: number;
  readonly membersPerRoom: number;
}

type Row = Omit<Figure, 'scenario'>;

export async function rooms(options: RoomsOptions): Promise<Figure[]> {
  const redis = await startRedisServer();
  try {
    const rows: Row[] = [];
    for (const count of options.listeners)
      rows.push(...(await lateness(redis, count, count === options.listeners[0], options)));
    rows.push(...(await commands(redis, options)), ...(await memory(options)));
    return rows.map((row) => ({ scenario: 'rooms', ...row }));
  } finally {
    await redis.stop();
  }
}

interface Child<Started> {
  readonly started: Started;
  ask<Answer>(): Promise<Answer>;
  stop(): Promise<void>;
}

async function start<Started>(name: string, args: readonly string[]): Promise<Child<Started>> {
  const child: ChildProcess = fork(fileURLToPath(new URL(`${name}.js`, import.meta.url)), [...args]);
  const exited = once(child, 'exit').then(() => undefined);
  const answer = async <Answer>(): Promise<Answer> => {
    const message = await Promise.race([once(child, 'message'), exited]);
    if (message === undefined) throw new Error(`${name} ended: see its error above`);
    return message[0] as Answer;
  };
  return {
    started: await answer<Started>(),
    ask() {
      child.send({});
      return answer();
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

const startServer = (...args: string[]) => start<{ port: number }>('server-process', args);
const startListeners = (options: ListenersOptions) =>
  start<{ ready: true }>('listeners-process', [JSON.stringify(options)]);
type Listeners = Awaited<ReturnType<typeof startListeners>>;

/** Three instances with nodes, and a room in which one member speaks; other members come from the listeners' process. */
async function startRoom(redis: BenchRedis, prefix: string) {
  const flags = sharedFlags(redis.port, prefix);
  const servers: Awaited<ReturnType<typeof startServer>>[] = [];
  for (let count = 0; count < INSTANCES; count += 1) servers.push(await startServer('scheduler', ...flags));
  const urls = servers.map(({ started }) => `ws://127.0.0.1:${started.port}`);
  const nodes = await startRoomNodes(`${urls[0]}/ws/node`, [SOURCE, ...LANGUAGES]);
  const speaker = await startSpeaker(`${urls[0]}/ws/session`, SOURCE);
  return {
    nodes,
    speaker,
    listen: (count: number, languages: readonly string[]) =>
      startListeners({
        urls: urls.map((url) => `${url}/ws/session`),
        count,
        languages,
        codes: [speaker.code],
      }),
    async stop() {
      speaker.stop();
      nodes.stop();
      for (const server of servers) await server.stop();
    },
  };
}

/** Speaks in time, whether or not earlier utterances were recognised. Resolves when all were. */
async function speak(speaker: Speaker, utterances: number, everyMs: number): Promise<void> {
  const begunAt = performance.now();
  const said: Promise<void>[] = [];
  for (let count = 0; count < utterances; count += 1) {
    await later(Math.max(0, begunAt + count * everyMs - performance.now()));
    said.push(speaker.say());
  }
  await Promise.all(said);
}

/** All captions of so many utterances, once every listener has them. */
async function arrived(
  listeners: Listeners,
  count: number,
  utterances: number,
): Promise<{ readonly arrivals: Arrivals; readonly sample: string }> {
  const all = new Map<string, [count: number, lastNs: string]>();
  const until = performance.now() + ARRIVE_MS;
  for (;;) {
    const { arrivals, sample } = await listeners.ask<Reported>();
    for (const [key, [more, lastNs]] of Object.entries(arrivals))
      all.set(key, [(all.get(key)?.[0] ?? 0) + more, lastNs]);
    const frames = [...all.values()].reduce((sum, [received]) => sum + received, 0);
    if (frames >= count * utterances) return { arrivals: Object.fromEntries(all), sample };
    if (performance.now() > until)
      throw new Error(`${frames} of ${count * utterances} captions have arrived: is the machine too busy?`);
    await later(POLL_MS);
  }
}

/** Milliseconds from leaving until the last listener has it, of each caption, in ascending order. */
const latenessOf = (leftAt: ReadonlyMap<string, bigint>, arrivals: Arrivals): number[] =>
  Object.entries(arrivals)
    .flatMap(([key, [, lastNs]]) => {
      const left = leftAt.get(key);
      return left === undefined ? [] : [Number(BigInt(lastNs) - left) / 1e6];
    })
    .sort((one, other) => one - other);

async function lateness(
  redis: BenchRedis,
  count: number,
  isJudged: boolean,
  { utterances, everyMs }: RoomsOptions,
): Promise<Row[]> {
  logLine(`rooms: one speaker, ${LANGUAGES.length} languages, ${count} listeners on ${INSTANCES} instances`);
  const room = await startRoom(redis, `late-${count}`);
  const listeners = await room.listen(count, LANGUAGES);
  const warm = Math.ceil(utterances / 5);
  await speak(room.speaker, warm, everyMs);
  await arrived(listeners, count, warm);
  await speak(room.speaker, utterances, everyMs);
  const { arrivals, sample } = await arrived(listeners, count, utterances);
  const captions = latenessOf(room.nodes.leftAt, arrivals);
  await listeners.stop();
  await room.stop();
  logLine(`rooms: the same frames as a bare broadcast`);
  const bare = await broadcast(count, utterances, warm, everyMs, sample);
  const name = `${count.toLocaleString('en-US')} listeners`;
  const row = (what: string, value: number, more: Partial<Row> = {}): Row => ({
    name: what,
    value,
    unit: 'ms',
    ...more,
  });
  const [p99, bareP99] = [percentile(captions, 0.99), percentile(bare, 0.99)];
  return [
    row(`result of a translation → last listener p50, ${name}`, percentile(captions, 0.5)),
    row(`the same p99, ${name}`, p99, isJudged ? { target: { atMost: 150 } } : {}),
    row(`bare broadcast of the same frames p50, ${name}`, percentile(bare, 0.5)),
    row(`the same p99, ${name}`, bareP99),
    row(`p99 of captions ÷ of the broadcast, ${name}`, p99 / bareP99, {
      unit: '×',
      ...(isJudged && { target: { atMost: 2 } }),
    }),
  ];
}

/** By as many relays as there were instances; all languages of an utterance at once, as the nodes' results. */
async function broadcast(
  count: number,
  utterances: number,
  warm: number,
  everyMs: number,
  sample: string,
): Promise<number[]> {
  const relays: Awaited<ReturnType<typeof startServer>>[] = [];
  for (let at = 0; at < INSTANCES; at += 1) relays.push(await startServer('relay'));
  const urls = relays.map(({ started }) => `ws://127.0.0.1:${started.port}`);
  const listeners = await startListeners({ urls, count, languages: LANGUAGES });
  const senders = await Promise.all(urls.map(openSender));
  const leftAt = new Map<string, bigint>();
  for (let number = 1; number <= warm + utterances; number += 1) {
    const next = performance.now() + everyMs;
    for (const language of LANGUAGES) {
      const key = `u${number} ${language}`;
      const frame = sample.replace(/"text":"u\d+ \w+/, `"text":"${key}`);
      if (number > warm) leftAt.set(key, process.hrtime.bigint());
      for (const sender of senders) sender.send(`${language}\n${frame}`);
    }
    await later(Math.max(0, next - performance.now()));
  }
  const { arrivals } = await arrived(listeners, count, warm + utterances);
  for (const sender of senders) sender.terminate();
  await listeners.stop();
  for (const relay of relays) await relay.stop();
  return latenessOf(leftAt, arrivals);
}

function openSender(url: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, { perMessageDeflate: false });
    ws.on('error', reject);
    ws.on('open', () => resolve(ws));
  });
}

/** Of one utterance, those that name its room. */
async function commands(redis: BenchRedis, { utterances, everyMs }: RoomsOptions): Promise<Row[]> {
  const counts: number[] = [];
  for (const count of [FEW, MANY]) {
    logLine(`rooms: commands to Redis with ${count} listeners`);
    const room = await startRoom(redis, `commands-${count}`);
    // As many languages each time.
    const listeners = await room.listen(count, LANGUAGES.slice(0, 3));
    await speak(room.speaker, 1, everyMs);
    await arrived(listeners, count, 1);
    const wire = await watchWire(redis);
    const sent = await wire.during(async () => {
      await speak(room.speaker, utterances, everyMs);
      await arrived(listeners, count, utterances);
    });
    wire.stop();
    counts.push(
      sent.commands.filter((words) => words.some((word) => word.includes(ROOM_KEY))).length / utterances,
    );
    await listeners.stop();
    await room.stop();
  }
  const [few = Number.NaN, many = Number.NaN] = counts;
  return [
    { name: `commands per utterance on the keys of its room, ${FEW} listeners`, value: few, unit: '' },
    { name: `the same, ${MANY.toLocaleString('en-US')} listeners`, value: many, unit: '' },
    { name: 'the second ÷ the first', value: many / few, unit: '×', target: { atMost: 1.1 } },
  ];
}

const ROOM_KEY = '{room:';

async function memory({ rooms: count, membersPerRoom }: RoomsOptions): Promise<Row[]> {
  logLine(`rooms: memory of ${count} rooms with ${membersPerRoom} members each`);
  const server = await startServer('scheduler');
  const address = `ws://127.0.0.1:${server.started.port}`;
  const nodes = await startRoomNodes(`${address}/ws/node`, [SOURCE, ...LANGUAGES]);
  const url = `${address}/ws/session`;
  const open = async (number: number): Promise<{ stop(): Promise<void> }> => {
    const hosts: Speaker[] = [];
    const others: Listeners[] = [];
    for (let at = 0; at < number; at += 1) hosts.push(await startSpeaker(url, SOURCE));
    const codes = hosts.map(({ code }) => code);
    others.push(await startMembers(url, codes, membersPerRoom - 1));
    return {
      async stop() {
        for (const host of hosts) host.stop();
        for (const other of others) await other.stop();
      },
    };
  };
  // Once before: what the first rooms warm up is not counted.
  await (await open(Math.ceil(count / 20))).stop();
  const before = await server.ask<{ rssBytes: number }>();
  const full = await open(count);
  const after = await server.ask<{ rssBytes: number }>();
  await full.stop();
  nodes.stop();
  await server.stop();
  return [
    {
      name: `memory (RSS) per member with its session, ${count.toLocaleString('en-US')} rooms of ${membersPerRoom}`,
      value: (after.rssBytes - before.rssBytes) / (count * membersPerRoom) / 1_024,
      unit: 'KB',
      target: { atMost: 40 },
    },
  ];
}

/** So many in each room. */
const startMembers = (url: string, codes: readonly string[], each: number): Promise<Listeners> =>
  startListeners({ urls: [url], count: codes.length * each, languages: LANGUAGES.slice(0, 4), codes });

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
