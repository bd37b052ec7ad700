/** What an attack is, and what it is given. A file in cases/ exports some; adding one needs nothing else. */
import type { Called, Calling } from '../chaos/wire/call.ts';

/** `single`: one process on memory. `redis`: two that share a Redis. */
export type Mode = 'single' | 'redis';

export interface Attack {
  /** In kebab-case; the row of docs/security.md that describes it. */
  readonly name: string;
  /** The asset or boundary that it attacks, as docs/security.md numbers them. */
  readonly point: number;
  /** What the attacker does, as a sentence without a subject. */
  readonly does: string;
  readonly modes: readonly Mode[];
  /**
   * Added to the settings of the target. Absent: TOKEN_SETTINGS. A function gets the folder of the target, and may write files there first;
   * such an attack has processes of its own.
   */
  readonly config?: string | ((folder: string) => string | Promise<string>);
  /** The processes serve TLS: a file in the folder of the target has the authority that every honest caller trusts. */
  readonly authorityFile?: string;
  /** Flags of Node.js, e.g. a smaller heap. */
  readonly nodeFlags?: readonly string[];
  /** Takes longer than a few seconds, so that `npm test` leaves it to `npm run test:slow`. */
  readonly isSlow?: boolean;
  /** After this time it counts as broken. Absent: 30 s. */
  readonly limitMs?: number;
  /**
   * Attacks, and also does what an honest caller would do: a target that refuses everything has not held. Afterwards the runner checks
   * that every process still runs and answers /health/live.
   */
  run(target: Target): Promise<Outcome>;
}

export interface Outcome {
  readonly kind: 'held' | 'broke';
  /** What the attacker got. */
  readonly got: string;
}

export const held = (got: string): Outcome => ({ kind: 'held', got });
export const broke = (got: string): Outcome => ({ kind: 'broke', got });

export interface Target {
  readonly mode: Mode;
  /** One, or two in the mode `redis`. */
  readonly ports: readonly number[];
  /** The first. */
  readonly port: number;
  /** The last: another process in the mode `redis`. */
  readonly otherPort: number;
  /** In the mode `redis`. */
  readonly redisPort: number | undefined;
  /** Of its configuration, its logs and what `config` has written. */
  readonly folder: string;
  /** Writes other settings into the configuration files; a process reads them when it reloads. */
  configure(config: string): void;
  call<Body = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    calling?: Calling & { readonly port?: number },
  ): Promise<Called<Body>>;
  /** Everything that the processes have logged. */
  log(): string;
  /** The memory of each process, in bytes. */
  rss(): readonly number[];
}

/** A token of every kind that a deployment has. */
export const TOKENS = {
  operator: 'attack-operator-0123456789',
  node: 'attack-node-0123456789',
  pinned: 'attack-pinned-node-0123456789',
  acme: 'attack-client-of-acme-0123456789',
  globex: 'attack-client-of-globex-0123456789',
} as const;

const row = (token: string, ...lines: readonly string[]): string =>
  ['[[server.tokens]]', `token = "${token}"`, ...lines, ''].join('\n');

export const TOKEN_SETTINGS = [
  row(TOKENS.operator, 'role = "operator"', 'name = "ops"'),
  row(TOKENS.node, 'role = "node"', 'name = "nodes"'),
  row(TOKENS.pinned, 'role = "node"', 'node_ids = ["node-pinned"]'),
  row(TOKENS.acme, 'role = "client"', 'tenant_id = "acme"'),
  row(TOKENS.globex, 'role = "client"', 'tenant_id = "globex"'),
].join('\n');

/** A node that polls for its jobs. */
export const PULL_NODE = {
  health: 'ready',
  semantic_langs: ['en', 'zh'],
  nmt_pairs: [
    ['en', 'zh'],
    ['zh', 'en'],
  ],
  tts_langs: ['en', 'zh'],
  max_concurrent_jobs: 50,
};

/** An utterance of eight bytes of silence. */
export const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: 'AAAAAAAAAAA=' };
