/** A session with one language, whose stages no single node has: the client notices nothing of it. */
import { openSession } from '@lingua/sdk/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { joinStageNode, perform, type StageNodeKind } from './support/stage-nodes.ts';
import { startApp } from './support/start-app.ts';

async function speak(kinds: readonly StageNodeKind[], tgtLang = 'es', speak: typeof perform = perform) {
  const app = await startApp({ 'scheduler.max_retry': 0 });
  const nodes = await Promise.all(
    kinds.map((kind) => joinStageNode(app.nodeUrl, kind, kind === 'speaker' ? { onJob: speak } : {})),
  );
  await app.readyNodes(kinds.length);
  const session = openSession({ url: app.url, srcLang: 'en', tgtLang, WebSocket });
  onTestFinished(async () => void (await session.close()));
  const outcomes: unknown[] = [];
  session.on('result', ({ utteranceIndex, textAsr, textTranslated, ttsAudio, language, message }) =>
    outcomes.push([
      utteranceIndex,
      textAsr,
      textTranslated,
      Buffer.from(ttsAudio).toString(),
      language,
      message.extra?.voice_failed,
    ]),
  );
  session.on('missing', ({ reason }) => outcomes.push(reason));
  session.on('error', ({ code }) => outcomes.push(code));
  for (const text of ['hello', 'bye']) {
    session.sendAudio(Buffer.from(text));
    session.endUtterance();
  }
  await session.settled();
  return { outcomes, nodes };
}

describe('a session with one language', () => {
  it('gets text and voice in one result from nodes with single stages', async () => {
    const { outcomes, nodes } = await speak(['recogniser', 'translator', 'speaker']);
    expect(outcomes).toEqual([
      [0, 'hello', 'hello>es', 'hello>es es', undefined, undefined],
      [1, 'bye', 'bye>es', 'bye>es es', undefined, undefined],
    ]);
    expect(nodes.map(({ jobs }) => jobs.length)).toEqual([2, 2, 2]);
  });

  it('is served by one node if one has all stages', async () => {
    const { nodes } = await speak(['recogniser', 'translator', 'speaker', 'whole']);
    expect(nodes.map(({ jobs }) => jobs.length)).toEqual([0, 0, 0, 2]);
  });

  it('gets its text if only the voice fails, and learns why', async () => {
    const { outcomes } = await speak(['recogniser', 'translator', 'speaker'], 'es', () => {
      throw new Error('hoarse');
    });
    expect(outcomes).toEqual([
      [0, 'hello', 'hello>es', '', undefined, expect.stringContaining('hoarse')],
      [1, 'bye', 'bye>es', '', undefined, expect.stringContaining('hoarse')],
    ]);
  });

  it('is refused as before if all nodes together cannot do it', async () => {
    const { outcomes, nodes } = await speak(['recogniser', 'translator'], 'de');
    expect(outcomes).toEqual(expect.arrayContaining(['NO_CAPABLE_NODE', 'job_failed']));
    expect(nodes.map(({ jobs }) => jobs.length)).toEqual([0, 0]);
  });
});
