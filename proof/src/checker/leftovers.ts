/** I2: at rest, Redis contains only what belongs to the living. Pure; the harness reads Redis. */
import type { Finding, Violation } from './violation.ts';

export interface Leftovers {
  readonly at: number;
  readonly keys: readonly LeftKey[];
  readonly livingInstances: readonly string[];
}

export interface LeftKey {
  readonly name: string;
  /** -1: never. */
  readonly ttlMs: number;
  /** Members, entries or fields. */
  readonly size: number;
  /** Of an inbox: messages that have been there for longer than handling takes. */
  readonly lingering?: number;
  /** Of a set of leases: those that have not ended. */
  readonly liveLeases?: number;
}

/** What a run may leave behind: which names, how long it may still live, and whether it must be empty. */
interface Kind {
  readonly what: string;
  readonly pattern: RegExp;
  readonly isForEver?: true;
  readonly isEmpty?: true;
}

/** Jobs are kept for their retention, sessions while they may be resumed: both expire. */
const KINDS: readonly Kind[] = [
  { what: 'leases', pattern: /^v1:nodes:\{node:[^}]+\}:reserved$/, isForEver: true },
  { what: 'mailboxes', pattern: /^v1:nodes:\{node:[^}]+\}:mailbox(_bodies)?$/, isEmpty: true },
  {
    what: 'nodes',
    pattern: /^v1:nodes:\{node:[^}]+\}:(meta|orders|capabilities|presence|reserved_marks)$/,
    isForEver: true,
  },
  { what: 'nodes', pattern: /^nodes:owner:\{node:/, isForEver: true },
  { what: 'nodes', pattern: /^v1:nodes:last_seen:\d+$/, isForEver: true },
  { what: 'jobs', pattern: /^v1:jobs:\{job:[^}]+\}:/ },
  { what: 'sessions', pattern: /^(v1:sessions:\{session:[^}]+\}:|sessions:owner:\{session:)/ },
  { what: 'inboxes', pattern: /^streams:\{instance:([^}]+)\}:inbox$/, isForEver: true, isEmpty: true },
  { what: 'dead letters', pattern: /^streams:\{instance:([^}]+)\}:dlq$/, isForEver: true, isEmpty: true },
  // The list of instances with dead letters; each of them is found by itself.
  { what: 'dead letters', pattern: /^v1:schedulers:dlq_orphaned$/, isForEver: true },
  // An index entry of a job that could not be written afterwards ends with its deadline. A job that is really lost is
  // found by its client's missing outcome.
  { what: 'jobs under way', pattern: /^v1:schedulers:\{instance:([^}]+)\}:jobs$/ },
  // Written all the time, by idle instances too; each expires.
  { what: 'statistics', pattern: /^v1:stats:(snapshot|\{instance:[^}]+\}:part)$/ },
  { what: 'locks', pattern: /^v1:(locks|debounce):/ },
  // What tenants used is kept for days, longer than a run; the contract of the store judges its expiry.
  { what: 'usage', pattern: /^v1:usage:(tenants$|\{tenant:[^}]+\}:)/, isForEver: true },
  // A silent room ends after half an hour; the contract of the store judges its expiry.
  { what: 'rooms', pattern: /^v1:rooms:\{(room|tenant):[^}]+\}:/, isForEver: true },
  { what: 'instances', pattern: /^(v1:schedulers:\{instance:[^}]+\}:|schedulers:|schema$)/, isForEver: true },
];

/** Longer than any retention of the run. */
const LONGEST_TTL_MS = 600_000;

export function checkLeftovers({ at, keys, livingInstances }: Leftovers): Finding {
  const violations: Violation[] = [];
  const counts: Record<string, number> = {};
  let leaked = 0;
  const found = (key: LeftKey, message: string): void => {
    violations.push({ invariant: 'I2 no leak', at, message: `${key.name} ${message}`, about: [key.name] });
  };
  for (const key of keys) {
    const kind = KINDS.find(({ pattern }) => pattern.test(key.name));
    const instance = /\{instance:([^}]+)\}/.exec(key.name)?.[1];
    counts[`keys: ${kind?.what ?? 'unknown'}`] = (counts[`keys: ${kind?.what ?? 'unknown'}`] ?? 0) + 1;
    leaked += key.liveLeases ?? 0;
    if (kind === undefined) found(key, 'is of no known kind');
    else if ((key.liveLeases ?? 0) > 0) found(key, `has ${key.liveLeases} live leases at rest`);
    else if (kind.isEmpty && (key.lingering ?? key.size) > 0)
      found(key, `has ${key.lingering ?? key.size} entries at rest`);
    else if (!kind.isForEver && (key.ttlMs < 0 || key.ttlMs > LONGEST_TTL_MS))
      found(key, key.ttlMs < 0 ? 'never expires' : `stays for ${key.ttlMs} ms`);
    else if (instance !== undefined && key.ttlMs < 0 && !livingInstances.includes(instance))
      found(key, 'belongs to a removed instance, and never expires');
  }
  return {
    violations,
    counts: { 'leaked leases': leaked, ...counts },
    judged: { 'I2 no leak': keys.length },
  };
}
