/** The scheduler on Redis next to BullMQ, on the same redis-server in the same run: jobs per second, time to leave, CPU per job. */
import { type Figure, median } from './measure.ts';
import type { Closed } from './redis/contestant.ts';
import type { ContestantKind, Opened } from './redis/contestant-process.ts';
import { type BenchRedis, serverCpuMicros, startRedisServer } from './redis/redis-server.ts';
import { type ContestantProcess, startContestant } from './redis/start-contestant.ts';
import { logLine } from './show.ts';

const IN_FLIGHT = 64;

export interface RedisOptions {
  readonly rounds: number;
  readonly jobsPerRound: number;
  /** Jobs per second of the open loop, and for how long. */
  readonly rate: number;
  readonly pacedMs: number;
}

type Row = Omit<Figure, 'scenario'>;
type Flooded = Closed & { readonly serverCpuMicros: number };
type Parties = Record<ContestantKind, ContestantProcess>;

const KINDS = ['engine', 'app', 'bullmq'] as const satisfies readonly ContestantKind[];

export async function redis(options: RedisOptions): Promise<Figure[]> {
  const server = await startRedisServer();
  try {
    const parties: Parties = {
      engine: await startContestant('engine', server.port),
      app: await startContestant('app', server.port),
      bullmq: await startContestant('bullmq', server.port),
    };
    const rows = [...(await flood(server, parties, options)), ...(await paced(parties, options))];
    for (const kind of KINDS) await parties[kind].stop();
    return rows.map((row) => ({ scenario: 'redis', ...row }));
  } finally {
    await server.stop();
  }
}

const NAMES: Record<ContestantKind, string> = {
  engine: 'engine, null transport',
  app: 'with WebSocket legs',
  bullmq: 'BullMQ',
};
/** Times BullMQ's jobs per second. */
const PROMISED: Partial<Record<ContestantKind, number>> = { engine: 1.5, app: 0.8 };

/** The contestants take turns, so that a slow minute of the machine is a slow minute for all of them. */
async function inTurns<T>(
  what: string,
  rounds: number,
  parties: Parties,
  play: (contestant: ContestantProcess) => Promise<T>,
): Promise<Record<ContestantKind, T[]>> {
  const seen: Record<ContestantKind, T[]> = { engine: [], app: [], bullmq: [] };
  for (let round = 0; round <= rounds; round++) {
    logLine(round === 0 ? `redis: ${what}, warming up` : `redis: ${what}, round ${round} of ${rounds}`);
    for (const kind of KINDS) {
      const result = await play(parties[kind]);
      await parties[kind].tidy();
      if (round > 0) seen[kind].push(result);
    }
  }
  return seen;
}

async function flood(
  server: BenchRedis,
  parties: Parties,
  { rounds, jobsPerRound }: RedisOptions,
): Promise<Row[]> {
  const what = `${IN_FLIGHT} jobs in flight`;
  const seen = await inTurns(what, rounds, parties, async (contestant): Promise<Flooded> => {
    const before = await serverCpuMicros(server);
    const closed = await contestant.closed({ jobs: jobsPerRound, inFlight: IN_FLIGHT });
    return { ...closed, serverCpuMicros: ((await serverCpuMicros(server)) - before) / jobsPerRound };
  });
  const of = (kind: ContestantKind, figure: keyof Flooded): number =>
    median(seen[kind].map((each) => each[figure]));
  const rates = KINDS.map((kind): Row => {
    const name = `${NAMES[kind]}, ${IN_FLIGHT} in flight`;
    return { name, value: of(kind, 'perSecond'), unit: 'jobs/s' };
  });
  const ratios = KINDS.flatMap((kind): Row[] => {
    const atLeast = PROMISED[kind];
    if (atLeast === undefined) return [];
    const each = seen[kind].map(
      ({ perSecond }, round) => perSecond / (seen.bullmq[round]?.perSecond ?? Number.NaN),
    );
    return [{ name: `${NAMES[kind]} ÷ BullMQ`, value: median(each), unit: '×', target: { atLeast } }];
  });
  const cost = (kind: ContestantKind, whose: string, figure: keyof Flooded): Row => ({
    name: `CPU per job, ${NAMES[kind]}: ${whose}`,
    value: of(kind, figure),
    unit: 'µs',
  });
  const costs = KINDS.flatMap((kind) => [
    cost(kind, 'its process', 'cpuMicros'),
    ...(kind === 'app' ? [cost(kind, 'process of the nodes', 'otherCpuMicros')] : []),
    cost(kind, 'redis-server', 'serverCpuMicros'),
  ]);
  return [...rates, ...ratios, ...costs];
}

async function paced(parties: Parties, { rounds, rate, pacedMs }: RedisOptions): Promise<Row[]> {
  const seen = await inTurns(`${rate} jobs/s`, rounds, parties, (contestant) =>
    contestant.open({ rate, forMs: pacedMs }),
  );
  const rows = KINDS.flatMap((kind) =>
    (['p50', 'p99'] as const).map((share): Row => {
      const value = median(seen[kind].map((each) => each[share]));
      return { name: `${NAMES[kind]}: job comes → leaves, ${share}, ${rate} jobs/s`, value, unit: 'ms' };
    }),
  );
  const ratio = (mine: Opened, round: number): number => mine.p99 / (seen.bullmq[round]?.p99 ?? Number.NaN);
  return [
    ...rows,
    {
      name: `p99 at ${rate} jobs/s, engine ÷ BullMQ`,
      value: median(seen.engine.map(ratio)),
      unit: '×',
      target: { atMost: 1 },
    },
  ];
}
