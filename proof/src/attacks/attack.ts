/** What an attack is, and what it is given. A file in cases/ exports some; adding one needs nothing else. */
import type { Called, Calling } from '../chaos/wire/call.ts';
import type { Deployment } from './deployments.ts';

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
  /** What it attacks. Absent: MAIN. */
  readonly on?: Deployment;
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
  /** Of its configuration, its logs and the files of its deployment. */
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
