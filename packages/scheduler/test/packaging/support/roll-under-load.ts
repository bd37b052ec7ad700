/** Instances behind one address are stopped and started one after the other, while people talk through it. */
import { expect } from 'vitest';
import type { Summary } from '../../../src/cli/simulated-client/summary.ts';
import { lingua } from '../../e2e/support/lingua.ts';
import { eventually } from '../../support/eventually.ts';

export interface Place {
  /** Resolves when the instance is ready. */
  start(): Promise<void>;
  /** As a supervisor stops it; resolves with its exit code. */
  stop(): Promise<number | null>;
}

const PAIRS = 4;
const NODES = 4;
const LONG_MS = 120_000;

/** The summary of `lingua talk`: it has followed every utterance to its outcome. `program`: people and nodes of another installation. */
export async function rollUnderLoad(
  url: string,
  places: readonly Place[],
  program?: string,
): Promise<Summary> {
  const languages = ['--languages', 'zh,en'];
  const nodeUrl = `${url.replace('http', 'ws')}/ws/node`;
  lingua(['simulate', '--url', nodeUrl, '--count', String(NODES), ...languages], {}, program);
  const readyNodes = async (): Promise<number> => {
    const answer = await fetch(`${url}/api/v1/cluster`);
    return ((await answer.json()) as { readonly ready_nodes: number }).ready_nodes;
  };
  await eventually(async () => (await readyNodes()) === NODES);

  const talk = lingua(
    [
      ...['talk', '--json', '--url', url, '--sessions', String(PAIRS), '--seconds', '0', ...languages],
      ...['--utterance-ms', '600', '--pause-ms', '300'],
    ],
    {},
    program,
  );
  const outcomes = (): number => talk.out().split('"event":"outcome"').length - 1;
  /** The load goes on, with what has changed. */
  const more = async (count: number): Promise<void> => {
    const wanted = outcomes() + count;
    await eventually(() => outcomes() >= wanted, { withinMs: LONG_MS });
  };

  await more(2 * PAIRS);
  for (const place of places) {
    expect(await place.stop()).toBe(0);
    await more(2 * PAIRS);
    await place.start();
    await more(2 * PAIRS);
  }
  await eventually(async () => (await readyNodes()) === NODES);
  talk.signal('SIGINT');
  await talk.ended;
  return JSON.parse(talk.out().trim().split('\n').at(-1) ?? '') as Summary;
}
