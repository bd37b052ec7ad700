/** A node with the Python SDK at a scheduler process: its job outlives its connection, and it drains on SIGTERM. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createBreakableWire } from './support/breakable-wire.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { lingua } from './support/lingua.ts';
import { createClient } from './support/start-app.ts';

beforeAll(ensureBuilt, 150_000);

const PROGRAM = fileURLToPath(new URL('support/python_node.py', import.meta.url));
const SDK = fileURLToPath(new URL('../../../python/src', import.meta.url));

function startPythonNode(url: string): ChildProcessByStdio<Writable, Readable, null> {
  // Another Python that is first on the path has not Debian's packages.
  const node = spawn('/usr/bin/python3', [PROGRAM, url], {
    env: { ...process.env, PYTHONPATH: SDK, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void node.kill('SIGKILL'));
  return node;
}

it("a Python node's job outlives its connection, and SIGTERM drains the node", async () => {
  const url = await lingua([
    'serve',
    '--port',
    '0',
    '--set',
    'scheduler.node_reconnect_grace_ms=60000',
  ]).url();
  const client = createClient(url);
  const wire = await createBreakableWire(`${url.replace('http', 'ws')}/ws/node`);
  const node = startPythonNode(wire.url);
  let printed = '';
  node.stdout.on('data', (data: Buffer) => {
    printed += data.toString();
  });
  await client.readyNodes(1);

  const { job_id: jobId } = await client.dispatch({ options: { require_tts: true } });
  await eventually(() => printed.includes(`begun ${jobId}`));
  wire.cut({ isKept: true });
  node.stdin.write('你好\n');
  wire.mend();
  const job = await client.settled(jobId);
  expect(job).toMatchObject({ node_id: 'node-python', attempt_id: 1 });
  expect(job.result).toMatchObject({
    success: true,
    text_asr: '8 bytes',
    text_translated: '你好',
    tts_audio: 'AAAAAAAAAAA=',
  });

  await client.readyNodes(1);
  const { job_id: last } = await client.dispatch();
  await eventually(() => printed.includes(`begun ${last}`));
  node.kill('SIGTERM');
  await eventually(async () => (await client.nodes()).some(({ status }) => status === 'draining'));
  node.stdin.write('bye\n');
  expect((await client.settled(last)).result).toMatchObject({ success: true, text_translated: 'bye' });
  await eventually(() => node.exitCode === 0);
});
