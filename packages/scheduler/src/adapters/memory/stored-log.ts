/** The log of one room, as plain values that can be copied. */
import type {
  AcceptedUtterance,
  LoggedEntry,
  LogLine,
  NumberedAccept,
  RoomEntry,
  Said,
} from '../../domain/room-log.ts';
import { entryKey, obsoleteAfter, utteranceKey } from '../../domain/room-log.ts';
import type { LogEnds, RoomLogLimits } from '../../ports/room-log.ts';

interface Line extends LogLine {
  readonly key: string;
}

export interface StoredLog {
  /** Lines and entries are replaced, not changed. */
  readonly lines: Line[];
  readonly standing: Map<string, LoggedEntry>;
  /** Numbers of utterances of which nothing is appended any more. */
  readonly erased: Set<number>;
  last: number;
  seq: number;
  ttlMs: number;
}

export const createStoredLog = (ttlMs: number): StoredLog => ({
  lines: [],
  standing: new Map(),
  erased: new Set(),
  last: 0,
  seq: 0,
  ttlMs,
});

export const copyStoredLog = (log: StoredLog): StoredLog => ({
  ...log,
  lines: [...log.lines],
  standing: new Map(log.standing),
  erased: new Set(log.erased),
});

export const endsOf = ({ lines, last, seq }: StoredLog): LogEnds => ({
  first: lines[0]?.position ?? last + 1,
  last,
  seq,
});

/** Numbers that were given out, if the store may have lost them. */
export function skipTo(log: StoredLog, atLeast: Pick<LogEnds, 'last' | 'seq'> | undefined): void {
  log.last = Math.max(log.last, atLeast?.last ?? 0);
  log.seq = Math.max(log.seq, atLeast?.seq ?? 0);
}

interface Now extends RoomLogLimits {
  readonly now: number;
}

export function acceptIn(log: StoredLog, utterance: AcceptedUtterance, by: Now): NumberedAccept {
  const key = utteranceKey(utterance.utterance);
  const known = log.standing.get(key);
  if (known?.kind === 'accept') return known;
  log.seq += 1;
  const accept: NumberedAccept = { kind: 'accept', seq: log.seq, ...structuredClone(utterance) };
  add(log, key, accept, by);
  return accept;
}

/** For each entry, the one that stands. */
export const appendTo = (
  log: StoredLog,
  entries: readonly (RoomEntry | NumberedAccept)[],
  by: Now,
): (LoggedEntry | undefined)[] =>
  entries.map((entry) => {
    const key = entryKey(entry);
    const obsolete = obsoleteAfter(entry);
    const other = log.standing.get(key);
    if (other !== undefined) return other;
    if (log.erased.has(entry.seq)) return undefined;
    if (obsolete !== undefined && log.standing.has(obsolete)) return undefined;
    const added = structuredClone(entry);
    add(log, key, added, by);
    return added;
  });

export const linesAfter = ({ lines }: StoredLog, after: number, limit: number): LogLine[] =>
  lines
    .filter(({ position }) => position > after)
    .slice(0, limit)
    .map(({ key: _key, ...line }) => line);

/** Returns how many utterances that were. */
export function eraseIn(log: StoredLog, { speaker, utterance }: Said): number {
  const seqs = new Set(
    log.lines.flatMap(({ entry }) =>
      entry.kind === 'accept' &&
      entry.speaker === speaker &&
      (utterance === undefined || entry.utterance === utterance)
        ? [entry.seq]
        : [],
    ),
  );
  for (const [at, line] of log.lines.entries()) {
    const { seq } = line.entry;
    if (!seqs.has(seq)) continue;
    const entry: LoggedEntry = { kind: 'erased', seq };
    log.lines[at] = { ...line, entry };
    if (log.standing.get(line.key) === line.entry) log.standing.set(line.key, entry);
  }
  for (const seq of seqs) log.erased.add(seq);
  return seqs.size;
}

function add(log: StoredLog, key: string, entry: LoggedEntry, { now, maxEntries, maxAgeMs }: Now): void {
  log.last += 1;
  log.lines.push({ position: log.last, at: now, entry, key });
  log.standing.set(key, entry);
  while (log.lines.length > maxEntries || (log.lines[0]?.at ?? now) < now - maxAgeMs) {
    const trimmed = log.lines.shift();
    if (trimmed === undefined) continue;
    log.erased.delete(trimmed.entry.seq);
    if (log.standing.get(trimmed.key) === trimmed.entry) log.standing.delete(trimmed.key);
  }
}
