/** One demonstration: lets pairs talk through three instances, and kills one process after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SurviveCommand } from './command.ts';
import { startLingua } from './lingua-process.ts';
import { noticed, noticedLine, type TalkLine } from './noticed.ts';
import { NODES, startWorld } from './start-world.ts';

const LANGUAGES = 'zh,en';

export interface SurviveOptions extends SurviveCommand {
  /** For configuration files and logs. */
  readonly folder: string;
  readonly print: (line: string) => void;
  /** Called after the talk, if it stays: resolves when it is to end. */
  readonly interruption: () => Promise<void>;
}

/** True: nothing was lost, doubled or out of order. */
export async function runSurvive(options: SurviveOptions): Promise<boolean> {
  const { seconds, pairs, print } = options;
  const world = await startWorld({ ...options, languages: LANGUAGES });
  const { url, store, cluster } = world;
  const lines: TalkLine[] = [];
  try {
    print(
      `console: ${url}/  (three instances, ${NODES} simulated nodes, a Redis Cluster of three masters and three replicas)`,
    );
    print(`${pairs} pairs talk for ${seconds} s; the processes that are killed are not restarted`);
    const talk = startLingua(
      [
        'talk',
        '--json',
        '--url',
        url,
        '--sessions',
        `${pairs}`,
        '--seconds',
        `${seconds}`,
        '--languages',
        LANGUAGES,
      ],
      (line) => void lines.push(JSON.parse(line) as TalkLine),
    );
    const startedAt = Date.now();
    let read = 0;
    const report = (): void => {
      print(`          the people: ${noticedLine(noticed(lines.slice(read)), `${pairs} pairs`)}`);
      read = lines.length;
    };
    const until = (share: number): Promise<void> =>
      sleep(Math.max(0, startedAt + share * seconds * 1_000 - Date.now()));
    const at = (): string => `${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  `;
    for (const [share, kill] of [
      [1 / 6, world.killNode],
      [2.5 / 6, world.killInstance],
      [4 / 6, world.killMaster],
    ] as const) {
      await until(share);
      report();
      print(`${at()}killed ${(await kill()).what}`);
    }
    const code = await talk.ended;
    const summary = lines.at(-1) as unknown as Record<string, number>;
    report();
    print(
      `${at()}the end: ${summary.utterances} utterances, ${summary.results} translated, lost ${summary.lost}, ` +
        `doubled ${summary.doubled}, out of order ${summary.outOfOrder}`,
    );
    const { online_instances: instances, ready_nodes: ready } = await cluster();
    print(
      `what is left: ${instances} instances, ${ready} nodes, ${(await store.masters()).length} Redis masters`,
    );
    if (options.stays) {
      print(`the console stays at ${url}/ until Ctrl-C`);
      await options.interruption();
    }
    return code === 0;
  } finally {
    await world.stop();
  }
}
