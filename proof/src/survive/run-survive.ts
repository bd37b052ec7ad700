/** One demonstration: starts everything as processes, lets people talk, kills one process after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterReply } from '@lingua/protocol';
import { createRecorder } from '../../../packages/simulation/dist/history.js';
import { sharedStore } from '../chaos/rig/configured.ts';
import { startRedisStore } from '../chaos/rig/redis-store.ts';
import { startSchedulers } from '../chaos/rig/schedulers.ts';
import { createBalancer, takeTurns } from '../chaos/wire/balancer.ts';
import { call } from '../chaos/wire/call.ts';
import { eventually } from '../eventually.ts';
import type { SurviveCommand } from './command.ts';
import { startLingua } from './lingua-process.ts';
import { noticed, noticedLine, type TalkLine } from './noticed.ts';

const NODES = 4;
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
  const { seconds, pairs, folder, print } = options;
  const store = await startRedisStore();
  const schedulers = await startSchedulers({
    count: 3,
    folder,
    recorder: createRecorder(),
    configOf: (port) =>
      `[server]\nport = ${port}\nadvertise_url = "http://127.0.0.1:${port}"\n${sharedStore(store.ports)}`,
    redisPorts: store.ports,
  });
  const gate = await createBalancer({ backends: takeTurns(schedulers.backends) });
  const url = `http://127.0.0.1:${gate.port}`;
  const cluster = async (): Promise<ClusterReply> =>
    (await call<ClusterReply>(gate.port, 'GET', '/api/v1/cluster')).body;
  const nodes = Array.from({ length: NODES }, (_, at) =>
    startLingua([
      'simulate',
      '--url',
      `${url.replace('http', 'ws')}/ws/node`,
      '--languages',
      LANGUAGES,
      '--seed',
      `${at + 1}`,
    ]),
  );
  const lines: TalkLine[] = [];
  try {
    await eventually(async () => (await cluster()).ready_nodes === NODES);
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
      print(`          the people: ${noticedLine(noticed(lines.slice(read)), pairs)}`);
      read = lines.length;
    };
    const until = (share: number): Promise<void> =>
      sleep(Math.max(0, startedAt + share * seconds * 1_000 - Date.now()));
    const at = (): string => `${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  `;
    for (const [share, kill] of [
      [1 / 6, killNode],
      [2.5 / 6, killInstance],
      [4 / 6, killMaster],
    ] as const) {
      await until(share);
      report();
      print(`${at()}killed ${await kill()}`);
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
    for (const node of nodes) node.kill();
    gate.close();
    await schedulers.stop();
    await store.stop();
  }

  async function killNode(): Promise<string> {
    const [node] = nodes;
    node?.kill();
    return `a node (process ${node?.pid}), one of ${NODES}`;
  }

  /** The one that serves most people. */
  async function killInstance(): Promise<string> {
    const { instances } = await cluster();
    const [most] = instances.toSorted((one, other) => (other.sessions ?? 0) - (one.sessions ?? 0));
    const place = [0, 1, 2].find((each) => schedulers.at(each).pid === most?.pid) ?? 0;
    await schedulers.at(place).kill();
    return (
      `the instance ${most?.instance_id} (process ${most?.pid}), one of 3: it served ${most?.sessions} of ${pairs} pairs ` +
      `and held ${most?.nodes} nodes`
    );
  }

  async function killMaster(): Promise<string> {
    const masters = await store.masters();
    const [port = 0] = masters;
    store.kill(port);
    return `the Redis master on port ${port}, one of ${masters.length}`;
  }
}
