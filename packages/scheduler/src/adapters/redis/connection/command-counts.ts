/** Hot path: counts commands by name and result in plain numbers, until the metrics are read. */
import { Cluster, type Command, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';
import { scriptNameOf } from './script.ts';

export interface CommandCount {
  /** The command, or the script that it ran. */
  readonly op: string;
  readonly result: 'ok' | 'err';
  readonly count: number;
}

export interface CommandCounts {
  note(command: Command, fault?: unknown): void;
  /** The counts since the last call. */
  drain(): readonly CommandCount[];
}

/** The scheduler uses few names; the limit bounds the map in any case. */
const MOST_NAMES = 100;

export function createCommandCounts(): CommandCounts {
  const counts = new Map<string, { ok: number; err: number }>();

  function countsOf(op: string): { ok: number; err: number } {
    const known = counts.get(op);
    if (known !== undefined) return known;
    if (counts.size >= MOST_NAMES && op !== OTHER) return countsOf(OTHER);
    const fresh = { ok: 0, err: 0 };
    counts.set(op, fresh);
    return fresh;
  }

  return {
    note(command, fault) {
      const own = countsOf(opOf(command));
      if (fault === undefined || isRoutine(fault)) own.ok += 1;
      else own.err += 1;
    },
    drain() {
      const drained: CommandCount[] = [];
      for (const [op, own] of counts) {
        for (const result of ['ok', 'err'] as const) {
          if (own[result] > 0) drained.push({ op, result, count: own[result] });
          own[result] = 0;
        }
      }
      return drained;
    },
  };
}

/** For connections without a breaker. */
export function countCommands(connection: RedisConnection, counts: CommandCounts): void {
  if (connection instanceof Cluster) connection.on('+node', (server: Redis) => watch(server, counts));
  else watch(connection, counts);
}

function watch(server: Redis, counts: CommandCounts): void {
  const send = server.sendCommand.bind(server);
  server.sendCommand = (command: Command, stream) => {
    command.promise.then(
      () => counts.note(command),
      (fault: unknown) => counts.note(command, fault),
    );
    return send(command, stream);
  };
}

const OTHER = 'other';

function opOf({ name, args }: Command): string {
  const op = name.toLowerCase();
  return op === 'evalsha' || op === 'eval' ? scriptNameOf(String(args[0])) : op;
}

/** The server works: it redirects the command, or has not loaded the script or the group yet. */
const isRoutine = (fault: unknown): boolean =>
  fault instanceof Error && /^(NOSCRIPT|MOVED|ASK|BUSYGROUP|NOGROUP)\b/.test(fault.message);
