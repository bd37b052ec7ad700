/** A scheduler and two real speech nodes, each a process of its own, as `npm run speech` starts them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startBesideServer } from '../beside-rig.ts';

const SPEECH_NODE = fileURLToPath(
  new URL('../../../packages/speech-node/bin/lingua-speech-node.js', import.meta.url),
);
/** Of nodes that share their machine with the scheduler and the browser. */
const SETTINGS = ['scheduler.load_balancer.resource_threshold=100'];
const POLL_MS = 50;
/** On a busy machine loading the models takes long. */
const READY_MS = 300_000;

export interface Usage {
  /** Of the node's process, and of it and the programs that it runs. */
  readonly nodeMb: number;
  readonly allMb: number;
  readonly cpuSeconds: number;
}

export interface SpeechRig {
  readonly url: string;
  /** Of the first node. */
  usage(): Usage;
  stop(): Promise<void>;
}

export async function startSpeech(nodes: number): Promise<SpeechRig> {
  const server = await startBesideServer(0, SETTINGS);
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    const running = children.filter(({ exitCode }) => exitCode === null);
    await Promise.all(
      running.map((child) => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        return exited;
      }),
    );
    await server.stop();
  };
  try {
    for (let index = 1; index <= nodes; index += 1) {
      const args = [
        '--url',
        `ws://127.0.0.1:${server.port}/ws/node`,
        '--id',
        `speech-${index}`,
        '--workers',
        '1',
      ];
      children.push(spawn(process.execPath, [SPEECH_NODE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
    }
    await Promise.all(children.map(untilRegistered));
    await untilReady(server.port, nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  const [first] = children;
  return {
    url: `http://127.0.0.1:${server.port}`,
    usage: () => usageOf(first?.pid ?? 0),
    stop,
  };
}

async function untilRegistered(child: ChildProcess): Promise<void> {
  const lines: string[] = [];
  const registered = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null)
        createInterface({ input: stream }).on('line', (line) => {
          lines.push(line);
          if (line.startsWith('Registered')) resolve();
        });
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`a speech node could not be started: ${lines.at(-1)}`);
  });
  // Later it ends on purpose.
  ended.catch(() => {});
  await Promise.race([registered, ended]);
}

async function untilReady(port: number, count: number): Promise<void> {
  for (const limit = Date.now() + READY_MS; Date.now() < limit; await wait(POLL_MS)) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/nodes`);
    const { nodes } = (await reply.json()) as { nodes: readonly { readonly status: string }[] };
    if (nodes.filter(({ status }) => status === 'ready').length >= count) return;
  }
  throw new Error(`the speech nodes were not ready within ${READY_MS / 1_000} s`);
}

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK']).stdout?.toString()) || 100;

/** Reads /proc. */
function usageOf(pid: number): Usage {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)));
  const own = new Set([pid]);
  // A child has a larger id than its parent, unless the ids began anew: so until nothing is added.
  for (let before = 0; before < own.size; ) {
    before = own.size;
    for (const { id, parent } of stats) if (own.has(parent)) own.add(id);
  }
  const all = stats.filter(({ id }) => own.has(id));
  const mb = (ids: typeof stats): number => ids.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  return {
    nodeMb: mb(all.filter(({ id }) => id === pid)),
    allMb: mb(all),
    cpuSeconds: all.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND,
  };
}

function statOf(id: number): { id: number; parent: number; ticks: number; bytes: number }[] {
  try {
    // The name, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${id}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    const at = (field: number): number => Number(fields[field - 3]);
    const shared = /^Pss: +(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'latin1'));
    // Also of its children that have ended.
    return [
      {
        id,
        parent: at(4),
        ticks: at(14) + at(15) + at(16) + at(17),
        bytes: 1_024 * Number(shared?.[1] ?? 0),
      },
    ];
  } catch {
    return [];
  }
}
