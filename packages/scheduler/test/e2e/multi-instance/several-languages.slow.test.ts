/** A session with several languages, whose instance is killed in the middle of its plans: each outcome arrives once, in order per language. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ensureBuilt } from '../support/ensure-built.ts';
import { speakToSeveral } from '../support/several-languages.ts';
import { joinStageNode, perform, type StageNodeKind } from '../support/stage-nodes.ts';
import { startBehindBalancer } from './start-processes.ts';

beforeAll(ensureBuilt, 300_000);

const TEST_MS = 300_000;
const UTTERANCES = 6;

/** Slow enough that plans are in every stage when the instance dies. */
const slow: typeof perform = async (job, context) => {
  await sleep(50 + ((job.utterance_index * 37) % 100));
  return perform(job, context);
};

it('a client gets every wanted language once, although only it has the audio', {
  timeout: TEST_MS,
}, async () => {
  const { first, others, url } = await startBehindBalancer('several');
  const recognised: string[] = [];
  // Three of a kind: a node that may have had a job does not get it again.
  for (const kind of ['recogniser', 'translator', 'speaker'] as StageNodeKind[]) {
    for (const [at, { nodeUrl }] of [...others, ...others].slice(0, 3).entries()) {
      await joinStageNode(nodeUrl, kind, {
        nodeId: `node-${kind}-${at}`,
        onJob(job, context) {
          if (kind === 'recogniser') recognised.push(job.job_id);
          return slow(job, context);
        },
      });
    }
  }
  await first.readyNodes(9);
  const { session, outcomes, errors, say } = speakToSeveral(url);
  for (let number = 0; number < UTTERANCES; number += 1) say(`${number}`);
  await eventually(() => outcomes.length >= 4);
  await first.kill();
  await session.settled();
  const said = outcomes.map((line) => line.slice(line.indexOf(' ') + 1));
  const wanted = (number: number) => [
    `es ${number}|${number}>es`,
    `es voice ${number}>es es`,
    `fr ${number}|${number}>fr`,
    `pt ${number}|${number}>es>pt`,
  ];
  expect([...said].sort()).toEqual(
    Array.from({ length: UTTERANCES }, (_, number) => wanted(number))
      .flat()
      .sort(),
  );
  expect(errors).toEqual([]);
  for (const lane of [/^es \d/, /^es voice/, /^fr/, /^pt/]) {
    const numbers = said.filter((line) => lane.test(line)).map((line) => Number(/\d+/.exec(line)?.[0]));
    expect(numbers).toEqual(Array.from({ length: UTTERANCES }, (_, number) => number));
  }
  // What was done is found again: no utterance has a second recognition job.
  expect(new Set(recognised).size).toBe(UTTERANCES);
});
