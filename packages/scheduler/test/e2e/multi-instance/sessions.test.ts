/** A session whose instance dies or restarts continues on another: every utterance has one outcome, in order. */
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ensureBuilt } from '../support/ensure-built.ts';
import { joinSdkNode } from '../support/sdk-node.ts';
import { startTalker, understand } from '../support/session-talk.ts';
import { startBehindBalancer } from './start-processes.ts';

beforeAll(ensureBuilt, 150_000);

const TEST_MS = 120_000;
const UTTERANCES = 20;
let tests = 0;

async function startTalk() {
  tests += 1;
  const { first, others, url } = await startBehindBalancer(`sessions-${tests}`);
  let works = 0;
  const onJob = understand(() => 20 + ((works++ * 37) % 200));
  for (const { nodeUrl, instanceId } of others)
    await joinSdkNode({ url: nodeUrl, nodeId: `node-${instanceId}`, onJob });
  await first.readyNodes(2);
  return { first, others, talker: startTalker(1, { url }) };
}

async function talkThrough(
  { talker }: Awaited<ReturnType<typeof startTalk>>,
  inTheMiddle: () => Promise<void>,
): Promise<void> {
  for (let number = 1; number <= UTTERANCES; number += 1) {
    talker.say(number % 2 === 0 ? 'a' : 'b', number % 3 === 0 ? 'whole' : 'pieces');
    if (number !== UTTERANCES / 2) continue;
    await eventually(() => talker.heard.length >= 3);
    await inTheMiddle();
  }
  await talker.session.settled();
  expect(talker.heard.map(({ requestId, text, reason }) => [requestId, text ?? reason])).toEqual([
    ...talker.said,
  ]);
}

describe('a session with running utterances', () => {
  it(
    'resumes on another instance after a kill, without loss, in order',
    async () => {
      const talk = await startTalk();
      await talkThrough(talk, () => talk.first.kill());
      expect(new Set(talk.talker.opened.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect(talk.talker.opened.length).toBeGreaterThan(1);
    },
    TEST_MS,
  );

  it(
    'moves with one reconnect when its instance shuts down',
    async () => {
      const talk = await startTalk();
      await talkThrough(talk, async () => talk.first.process.signal('SIGTERM'));
      expect(new Set(talk.talker.opened.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect(talk.talker.errors).toEqual([]);
      expect((await talk.first.process.ended).code).toBe(0);
    },
    TEST_MS,
  );
});
