/** Seed 000 §6.2: without its ModelHub the scheduler dispatches as before, and refreshing all the time costs little. */
import {
  type BesideServer,
  type Paced,
  paceDispatch,
  startBesideServer,
  startHub,
  startNodes,
} from './beside-rig.ts';
import { type Figure, median } from './measure.ts';
import { logLine } from './show.ts';

export interface HubOptions {
  readonly rounds: number;
  readonly roundMs: number;
}

const RATE = 200;
/** As often as the settings allow, also while it fails. */
const EAGER = [
  'scheduler.service_catalog.refresh_interval_seconds=1',
  'scheduler.service_catalog.backoff_base_seconds=1',
  'scheduler.service_catalog.backoff_max_seconds=1',
  'scheduler.service_catalog.request_timeout_ms=900',
];
const SMALL_BYTES = 10_000;
/** Nearly the most that is read. */
const LARGE_BYTES = 500_000;
/** No program listens there. */
const REFUSING = 'http://127.0.0.1:9';

const withHub = (url: string): string[] => [`model_hub.base_url=${url}`, ...EAGER];

interface Contestant {
  readonly server: BesideServer;
  readonly stopNodes: () => Promise<void>;
  readonly p99: number[];
  requests: number;
  errors: number;
}

async function enter(url: string): Promise<Contestant> {
  const server = await startBesideServer(0, withHub(url));
  return { server, stopNodes: await startNodes(server.port), p99: [], requests: 0, errors: 0 };
}

function note(contestant: Contestant, { p99, requests, errors }: Paced): void {
  contestant.p99.push(p99);
  contestant.requests += requests;
  contestant.errors += errors;
}

const successOf = ({ requests, errors }: Contestant): number => (100 * (requests - errors)) / requests;

export async function hub(options: HubOptions): Promise<Figure[]> {
  const rows = [...(await dispatchWithout(options)), ...(await refreshing(options))];
  return rows.map((row) => ({ scenario: 'hub', ...row }));
}

async function dispatchWithout({ rounds, roundMs }: HubOptions): Promise<Omit<Figure, 'scenario'>[]> {
  const hubs = { up: await startHub(SMALL_BYTES), silent: await startHub('silent') };
  const up = await enter(hubs.up.url);
  const silent = await enter(hubs.silent.url);
  const refusing = await enter(REFUSING);
  for (let round = 0; round <= rounds; round += 1) {
    logLine(round === 0 ? 'hub: warming up' : `hub: round ${round} of ${rounds}`);
    for (const contestant of [up, silent, refusing]) {
      const paced = await paceDispatch(contestant.server.port, RATE, roundMs);
      if (round > 0) note(contestant, paced);
    }
  }
  for (const { server, stopNodes } of [up, silent, refusing]) {
    await stopNodes();
    await server.stop();
  }
  if (hubs.silent.requestCount() === 0) throw new Error('the silent hub got no request');
  for (const each of Object.values(hubs)) each.stop();
  const ratio = (down: Contestant): number =>
    median(down.p99.map((p99, at) => p99 / (up.p99[at] ?? Number.NaN)));
  return [
    { name: `dispatch p99 at ${RATE}/s, hub up`, value: median(up.p99), unit: 'ms' },
    { name: 'dispatch p99, hub silent ÷ up', value: ratio(silent), unit: '×' },
    { name: 'dispatch p99, hub refusing ÷ up', value: ratio(refusing), unit: '×' },
    { name: 'dispatched, hub up', value: successOf(up), unit: '%' },
    { name: 'dispatched, hub silent', value: successOf(silent), unit: '%' },
    { name: 'dispatched, hub refusing', value: successOf(refusing), unit: '%' },
  ];
}

async function refreshing({ rounds, roundMs }: HubOptions): Promise<Omit<Figure, 'scenario'>[]> {
  const large = await startHub(LARGE_BYTES);
  const idle = await startBesideServer(0);
  const busy = await startBesideServer(0, withHub(large.url));
  const shares = { idle: [] as number[], busy: [] as number[] };
  const forMs = Math.max(roundMs, 1_500);
  for (let round = 0; round <= rounds; round += 1) {
    logLine(round === 0 ? 'hub: refreshing, warming up' : `hub: refreshing, round ${round} of ${rounds}`);
    const before = await Promise.all([idle.cpuMicros(), busy.cpuMicros()]);
    await new Promise((resolve) => setTimeout(resolve, forMs));
    const after = await Promise.all([idle.cpuMicros(), busy.cpuMicros()]);
    if (round === 0) continue;
    shares.idle.push((after[0] - before[0]) / forMs / 10);
    shares.busy.push((after[1] - before[1]) / forMs / 10);
  }
  const requestCount = large.requestCount();
  await Promise.all([idle.stop(), busy.stop()]);
  large.stop();
  if (requestCount < 2) throw new Error('the hub got no second request');
  return [
    { name: 'core used by an idle scheduler without a hub', value: median(shares.idle), unit: '%' },
    {
      name: 'core used while 500 KB of services are refreshed every second',
      value: median(shares.busy),
      unit: '%',
    },
  ];
}
