/** Six people speak four languages in one room, while nodes, instances and Redis masters are killed and started again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { printTable } from '../../../packages/scheduler/dist/cli/print-table.js';
import { judgeCaptions, type Listener, type RoomVerdict } from './judge-captions.ts';
import { noticed, noticedLine } from './noticed.ts';
import { enterRoom, PEOPLE, ROOM_LANGUAGES } from './room-people.ts';
import type { SurviveOptions } from './run-survive.ts';
import { type Killed, NODES, startWorld } from './start-world.ts';

/** From one kill to the next, unless the restart takes longer. */
const EVERY_MS = 15_000;
/** After the last kill they talk for at least so long. */
const QUIET_MS = 15_000;
const DOWN_MS = 5_000;
/** How long people wait for the last captions. */
const SETTLE_MS = 30_000;
const SETTLE_POLL_MS = 500;

/** True: each person got every promised rendition once, in order. */
export async function runRoom(options: SurviveOptions): Promise<boolean> {
  const { seconds, print } = options;
  const world = await startWorld({ ...options, languages: ROOM_LANGUAGES.join(',') });
  try {
    const { url, port } = world;
    const people = await enterRoom(url, port);
    const { lines } = people;
    print(
      `console: ${url}/  (three instances, ${NODES} simulated nodes, a Redis Cluster of three masters and three replicas, ` +
        `durability ${options.durability})`,
    );
    print(
      `${PEOPLE} people speak ${ROOM_LANGUAGES.join(', ')} in one room for ${seconds} s; each process that is killed is restarted`,
    );
    const startedAt = Date.now();
    const endsAt = startedAt + seconds * 1_000;
    const at = (): string => `${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  `;
    let read = 0;
    const report = (): void => {
      print(`          the people: ${noticedLine(noticed(lines.slice(read)), `${PEOPLE} people`)}`);
      read = lines.length;
    };
    // The room lies on one master.
    const kills: readonly (() => Promise<Killed>)[] = [
      world.killNode,
      world.killInstance,
      () => world.killMaster(`{room:${people.roomId}}`),
    ];
    people.talk();
    for (let count = 0; ; count += 1) {
      const next = Math.max(Date.now(), startedAt + (count + 1) * EVERY_MS - DOWN_MS);
      if (next + QUIET_MS > endsAt) break;
      await sleep(next - Date.now());
      report();
      const { what, restart } = await (kills[count % kills.length] as () => Promise<Killed>)();
      print(`${at()}killed ${what}`);
      await sleep(DOWN_MS);
      await restart();
    }
    await sleep(Math.max(0, endsAt - Date.now()));
    await people.finish();
    report();
    const verdict = await settled(async () => judgeCaptions(people.listeners(), await people.log()));
    print(`${at()}the end`);
    for (const line of verdictLines(verdict, people.listeners())) print(line);
    const faults = people.faults();
    if (faults > 0) print(`utterances without exactly one outcome for their speaker: ${faults}`);
    if (options.stays) {
      print(`the console stays at ${url}/ until Ctrl-C`);
      await options.interruption();
    }
    await people.close();
    return verdict.isFaultless && faults === 0;
  } finally {
    await world.stop();
  }
}

/** The last captions may be on their way. */
async function settled(judge: () => Promise<RoomVerdict>): Promise<RoomVerdict> {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    const verdict = await judge();
    if (verdict.isFaultless || Date.now() > until) return verdict;
    await sleep(SETTLE_POLL_MS);
  }
}

function verdictLines(
  { languages, lostBy, unlogged }: RoomVerdict,
  listeners: readonly Listener[],
): string[] {
  const delays = (language: string): number[] =>
    listeners
      .filter((listener) => listener.language === language)
      .flatMap(({ heard }) => heard.filter(({ isFinal }) => isFinal).map(({ at, endedAt }) => at - endedAt))
      .sort((one, other) => one - other);
  const share = (language: string, part: number): number | undefined => {
    const all = delays(language);
    return all[Math.min(all.length - 1, Math.floor(all.length * part))];
  };
  const table = printTable(
    [
      { title: 'language', cell: ({ language }) => language },
      { title: 'listeners', cell: ({ listeners: count }) => count },
      { title: 'promised', cell: ({ promised }) => promised },
      { title: 'once', cell: ({ received }) => received },
      { title: 'lost', cell: ({ lost }) => lost },
      { title: 'doubled', cell: ({ doubled }) => doubled },
      { title: 'out of order', cell: ({ outOfOrder }) => outOfOrder },
      { title: 'overtaken', cell: ({ overtaken }) => overtaken },
      { title: 'wrong', cell: ({ wrong }) => wrong },
      { title: 'corrected', cell: ({ corrected }) => corrected },
      { title: 'not translated', cell: ({ failed }) => failed },
      { title: 'p50 ms', cell: ({ language }) => share(language, 0.5) },
      { title: 'p99 ms', cell: ({ language }) => share(language, 0.99) },
    ],
    languages,
  );
  const sum = (read: (language: (typeof languages)[number]) => number): number =>
    languages.reduce((total, language) => total + read(language), 0);
  return [
    ...table.split('\n'),
    ...lostBy.map((line) => `lost by ${line}`),
    `${sum(({ promised }) => promised)} promised captions, lost ${sum(({ lost }) => lost)}, ` +
      `doubled ${sum(({ doubled }) => doubled)}, out of order ${sum(({ outOfOrder }) => outOfOrder)}, ` +
      `wrong ${sum(({ wrong }) => wrong)}; recognised and not in the log ${unlogged}`,
  ];
}
