/** Common parts of the scenarios about cold work beside dispatch: a scheduler with nodes that answer, a hub, and load at a fixed rate. */
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Tests of the sources start the compiled programs, too: Node.js 20 runs no others. */
const isSource = import.meta.url.endsWith('.ts');
const script = (name: string): string =>
  fileURLToPath(new URL(`${isSource ? '../dist/' : ''}${name}.js`, import.meta.url));

const NODES = 8;
const SLOTS = 64;

export interface BesideServer {
  readonly port: number;
  /** CPU time of its process, in microseconds. */
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

export async function startBesideServer(
  idleNodes: number,
  settings: readonly string[] = [],
): Promise<BesideServer> {
  const child: ChildProcess = fork(script('beside-server'), [String(idleNodes), ...settings], {
    // Those of a test runner would lead to the sources again.
    execArgv: isSource ? [] : process.execArgv,
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    async cpuMicros() {
      child.send({});
      const [figures] = (await once(child, 'message')) as [{ cpuMicros: number }];
      return figures.cpuMicros;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** Real nodes that answer every job at once, until the returned function is called. */
export async function startNodes(port: number): Promise<() => Promise<void>> {
  const args = [script('answering-nodes'), `ws://127.0.0.1:${port}/ws/node`, String(NODES), String(SLOTS)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  if (child.exitCode !== null) throw new Error('the nodes could not be started');
  return async () => {
    child.stdin.end();
    await exited;
  };
}

export interface Paced {
  readonly requests: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
}

async function pace(port: number, path: string, body: string, rate: number, forMs: number): Promise<Paced> {
  const args = [script('paced-client'), String(port), path, body, String(rate), String(forMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Paced;
}

const UTTERANCE = JSON.stringify({
  session_id: 'room-888',
  src_lang: 'en',
  tgt_lang: 'zh',
  audio_ref: 'blob://audio/1',
  options: { require_tts: false },
});

export const paceDispatch = (port: number, rate: number, forMs: number): Promise<Paced> =>
  pace(port, '/v1/dispatch/f2f', UTTERANCE, rate, forMs);

export const paceStats = (port: number, rate: number, forMs: number): Promise<Paced> =>
  pace(port, '/api/v1/stats', '', rate, forMs);

export interface BenchHub {
  readonly url: string;
  requestCount(): number;
  stop(): void;
}

/** `bytes` of services, or no answer. */
export async function startHub(bytes: number | 'silent'): Promise<BenchHub> {
  const text = bytes === 'silent' ? '' : catalogueOf(bytes);
  let requestCount = 0;
  const server = createServer((_, response: ServerResponse) => {
    requestCount += 1;
    if (bytes !== 'silent') response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestCount: () => requestCount,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function catalogueOf(bytes: number): string {
  const variant = (id: string, version: string) => ({
    version,
    platform: 'linux-x64',
    artifact: {
      type: 'zip',
      url: `/storage/${id}/${version}/service.zip`,
      sha256: 'a'.repeat(64),
      size_bytes: 1e8,
    },
  });
  const entry = (index: number) => {
    const id = `service-${index}`;
    const variants = ['1.0.0', '1.1.0', '1.2.0'].map((version) => variant(id, version));
    return { service_id: id, name: `Service ${index}`, latest_version: '1.2.0', variants };
  };
  const each = JSON.stringify(entry(1_000)).length + 1;
  return JSON.stringify({ services: Array.from({ length: Math.floor(bytes / each) }, (_, at) => entry(at)) });
}
