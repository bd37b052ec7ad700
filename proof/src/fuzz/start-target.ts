/** What is fuzzed: a scheduler in this process, where a fault shows with its stack, or as shipped in a process of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../../packages/scheduler/dist/adapters/system/log.js';
import { createApp } from '../../../packages/scheduler/dist/app/create-app.js';
import { loadConfig } from '../../../packages/scheduler/dist/config/load-config.js';
import { printFinding } from '../../../packages/scheduler/dist/config/origin.js';
import { freePorts } from '../chaos/rig/schedulers.ts';
import { settingsOf } from '../soak/rig/settings.ts';
import { startWatchedInstance } from '../soak/rig/watched-instance.ts';

export type Place = 'inside' | 'process';

/** After a full garbage collection. */
export interface Memory {
  readonly rss: number;
  readonly heap: number;
  /** Of objects outside the heap, array buffers included. */
  readonly external: number;
  readonly arrayBuffers: number;
}

export interface FuzzTarget {
  readonly port: number;
  /** Of an admin; peers without a token have the other roles. */
  readonly token: string;
  memory(): Promise<Memory>;
  /** What it logged as an error, and how often. */
  errors(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const TOKEN = 'fuzz-admin-0123456789';
const KEYS =
  '{"keys":[{"kty":"oct","kid":"fuzz","alg":"HS256","k":"ZnV6ei1rZXktMDEyMzQ1Njc4OS1mdXp6LWtleS0wMTIzNDU"}]}';
const OPEN = `[server]
anonymous = ["session", "node", "metrics", "viewer", "operator"]
token_keys = '${KEYS}'
`;

const settings = (port: number): string => settingsOf(port, undefined).replace('[server]\n', OPEN) + WIDE;

/** Limits of rates would keep the fuzz out. Nodes that it left are removed before memory is measured. */
const WIDE = `
[scheduler.cluster.node_snapshot]
remove_stale_after_seconds = 10
[server.limits]
messages_per_second = 100000
messages_burst = 1000000
max_invalid_messages = 10000
requests_per_second = 1000000
requests_per_second_per_tenant = 1000000
max_unknown_tokens_per_minute = 1000000
[[server.tokens]]
token = "${TOKEN}"
role = "admin"
`;

export const startTarget = (place: Place): Promise<FuzzTarget> =>
  place === 'inside' ? startInside() : startProcess();

async function startProcess(): Promise<FuzzTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-fuzz-'));
  const [port = 0] = await freePorts(1);
  const config = settings(port);
  // Otherwise V8 keeps or returns up to 48 MB of young objects whether or not anything leaks.
  const flags = ['--max-semi-space-size=1'];
  const instance = await startWatchedInstance({ name: 'fuzzed', port, folder, config, flags });
  return {
    port,
    token: TOKEN,
    async memory() {
      const { heapUsed, heapLive = heapUsed } = await instance.look({ collects: true });
      // The first look measures the rest before it collects.
      const { rss, external, arrayBuffers } = await instance.look({ collects: false });
      return { rss, heap: heapLive, external, arrayBuffers };
    },
    errors: instance.errors,
    async stop() {
      await instance.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startInside(): Promise<FuzzTarget> {
  const load = () => loadConfig({ toml: { text: settings(0), path: 'fuzz.toml' } });
  const loaded = load();
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.map(printFinding).join('\n'));
  const errors = new Map<string, number>();
  const note = (message: string): void => void errors.set(message, (errors.get(message) ?? 0) + 1);
  const log = createLog('error', { destination: { write: note } });
  const app = createApp({ config: loaded.config, log, reread: async () => load() });
  const { port } = await app.start();
  return {
    port,
    token: TOKEN,
    async memory() {
      globalThis.gc?.();
      const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
      return { rss, heap: heapUsed, external, arrayBuffers };
    },
    errors: () => errors,
    stop: app.stop,
  };
}
