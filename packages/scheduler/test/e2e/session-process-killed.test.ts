/** A process is killed during a session: a node, and the scheduler. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { lingua } from './support/lingua.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { openSession, sessionUrl, spoken } from './support/session-client.ts';
import { echo } from './support/session-jobs.ts';
import { QUICK } from './support/session-settings.ts';
import { startTalker, understand } from './support/session-talk.ts';
import { createClient, startApp } from './support/start-app.ts';

beforeAll(ensureBuilt, 150_000);

/** A node that takes a minute for everything. */
async function slowBehaviour(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-slow-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'slow.toml');
  await writeFile(path, '[latency]\nkind = "constant"\nms = 60000\n');
  return path;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a process that is killed', () => {
  it('a killed node costs the client only latency', async () => {
    const app = await startApp({ ...QUICK, 'scheduler.node_reconnect_grace_ms': 50 });
    const node = lingua(['simulate', '--url', app.nodeUrl, '--behaviour', await slowBehaviour()]);
    await app.readyNodes(1);
    const session = await openSession({ url: sessionUrl(app) });
    session.send(spoken(session, 7));
    await eventually(() => session.uiEvents(0).includes('NODE_ACCEPTED'));
    await joinSdkNode({ url: app.nodeUrl, onJob: echo });
    await app.readyNodes(2);
    node.signal('SIGKILL');
    expect(await session.outcome()).toMatchObject({ type: 'translation_result', text_asr: 'heard 7' });
    expect(session.of('error')).toEqual([]);
    expect(session.uiEvents(0)).not.toContain('ERROR');
  });

  it('a killed scheduler loses no utterance', async () => {
    const port = await freePort();
    const serve = () => lingua(['serve', '--port', String(port)]);
    const first = serve();
    const url = await first.url();
    const client = createClient(url);
    const nodeUrl = `${url.replace('http', 'ws')}/ws/node`;
    let works = 0;
    await joinSdkNode({ url: nodeUrl, nodeId: 'node-a', onJob: understand(() => 5 + ((works++ * 7) % 20)) });
    await client.readyNodes(1);
    const talker = startTalker(1, { url: sessionUrl({ url }) });
    for (let number = 1; number <= 20; number += 1) {
      talker.say(number % 2 === 0 ? 'a' : 'b', number % 3 === 0 ? 'whole' : 'pieces');
      if (number === 10) {
        await eventually(() => talker.heard.length >= 4);
        first.signal('SIGKILL');
        await first.ended;
        await serve().url();
      }
    }
    await talker.session.settled();
    expect(talker.heard.map(({ requestId, text, reason }) => [requestId, text ?? reason])).toEqual([
      ...talker.said,
    ]);
    expect(talker.opened.map(({ resumed }) => resumed)).toEqual([false, false]);
  });
});
