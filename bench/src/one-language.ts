/** One target language on Redis: what the planner adds to a request, next to the same request as one job. In turns, with real nodes. */

import { type Figure, median, percentile } from './measure.ts';
import { sharedFlags, startNodes, startSharedApp, untilReady } from './redis/app-contestant.ts';
import { startRedisServer } from './redis/redis-server.ts';
import { type Wire, watchWire } from './redis/wire.ts';
import { logLine } from './show.ts';

const NODES = 20;
const SLOTS = 4;
const IN_FLIGHT = 32;
const AUDIO = Buffer.alloc(8_000).toString('base64');

/** `job`: dispatched as it is. `plan`: the planner finds that one node has all of it. */
const WAYS = { job: { tgt_lang: 'es' }, plan: { tgt_langs: ['es'] } } as const;
type Way = keyof typeof WAYS;

interface Measured {
  /** Per request. */
  readonly commands: number;
  /** Median. */
  readonly ms: number;
}

export async function oneLanguage(options: {
  readonly rounds: number;
  readonly requests: number;
  /** How long a node works on a job. */
  readonly workMs: number;
}): Promise<Figure[]> {
  const { rounds, requests, workMs } = options;
  const server = await startRedisServer();
  const { app, port } = await startSharedApp(sharedFlags(server.port, 'one-language'));
  const nodes = await startNodes(port, NODES, SLOTS, workMs);
  const wire = await watchWire(server);
  try {
    await untilReady(app, NODES);
    const url = `http://127.0.0.1:${port}/v1/translate`;
    const measured: Record<Way, Measured[]> = { job: [], plan: [] };
    // Once, so that the server knows the scripts.
    for (const way of ['job', 'plan'] as const) await measure(wire, url, way, IN_FLIGHT);
    for (let round = 0; round < rounds; round++) {
      logLine(`one language, round ${round + 1} of ${rounds}`);
      // The first of two has a colder start: they take turns.
      for (const way of round % 2 === 0 ? (['job', 'plan'] as const) : (['plan', 'job'] as const))
        measured[way].push(await measure(wire, url, way, requests));
    }
    const of = (way: Way, what: keyof Measured): number => median(measured[way].map((each) => each[what]));
    const ratio = (what: keyof Measured): number => of('plan', what) / of('job', what);
    return [
      figure('commands per request as one job', of('job', 'commands'), ''),
      figure('commands, planned ÷ one job', ratio('commands'), '×', MOST),
      figure(`time of a request as one job of ${workMs} ms, p50`, of('job', 'ms'), 'ms'),
      figure(`time of a request, planned ÷ one job of ${workMs} ms, p50`, ratio('ms'), '×', MOST),
    ];
  } finally {
    wire.stop();
    await nodes.stop();
    await app.stop();
    await server.stop();
  }
}

const MOST = { atMost: 1.02 } as const;

const figure = (name: string, value: number, unit: string, target?: Figure['target']): Figure => ({
  scenario: 'stages',
  name: `one language on Redis: ${name}`,
  value,
  unit,
  ...(target && { target }),
});

async function measure(wire: Wire, url: string, way: Way, requests: number): Promise<Measured> {
  const times: number[] = [];
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const begun = performance.now();
      await translate(url, way);
      times.push(performance.now() - begun);
    }
  };
  const { commands } = await wire.during(async () => {
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, requests) }, lane));
  });
  return {
    commands: commands.length / requests,
    ms: percentile(
      times.sort((a, b) => a - b),
      0.5,
    ),
  };
}

let number = 0;

async function translate(url: string, way: Way): Promise<void> {
  number += 1;
  const body = { src_lang: 'en', ...WAYS[way], audio: AUDIO, request_id: `one-${number}` };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
}
