/** The records of the memory job store: live ones, and settled ones within the limits of time, count and bytes. */
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { numberIn } from '../../domain/numbered/job-name.ts';
import { NumberedMap } from '../../domain/numbered/numbered-map.ts';
import { partOf } from '../../domain/tenancy.ts';
import { createTenantFifo, type TenantFifo } from '../../domain/tenant-fifo.ts';
import type { Clock } from '../../ports/clock.ts';
import { PackedJob } from './packed-job.ts';

/** One entry. Its record is never changed, only replaced, because callers may keep it. */
export interface Place {
  record: JobRecord | PackedJob;
  readonly seq: number;
  settledAt: number | undefined;
  /** Dropped at this time, if that is before the end of its retention. */
  endsAt: number | undefined;
  retainedBytes: number;
  older: Place | undefined;
  newer: Place | undefined;
  settledBefore: Place | undefined;
  settledAfter: Place | undefined;
}

export const recordAt = ({ record }: Place): JobRecord =>
  record instanceof PackedJob ? record.unpack() : record;

export interface JobShelf {
  add(draft: JobRecord): Place;
  get(jobId: JobId): Place | undefined;
  settle(place: Place): void;
  /** Replaces the record of a settled job, which is then kept until `endsAt` at the latest. */
  replace(place: Place, record: PackedJob, endsAt: number): void;
  remove(place: Place): void;
  /** The settled job that is dropped first; the others follow by `settledAfter`. */
  firstSettled(): Place | undefined;
  onRemoved(listen: (place: Place) => void): void;
  liveCount(): number;
  /** Limits for settled jobs. */
  retained(): { readonly count: number; readonly bytes: number };
  newest(): Place | undefined;
  /** Drops jobs that are older than the retention time. */
  sweep(): void;
}

/** Estimated bytes of a settled record without the node's data. */
const RECORD_BYTES = 2_048;

export function createJobShelf(deps: {
  clock: Clock;
  retentionMs: number;
  maxRetained: number;
  maxRetainedBytes: number;
  /** Of the count and the bytes, for one tenant; absent: all. */
  tenantShare?: number;
}): JobShelf {
  const { tenantShare = 1 } = deps;
  const places = new NumberedMap<Place>(numberIn);
  /** A linked list in the order of settling, which is the order of dropping. A Set that is emptied from the front gets slow. */
  const settled: { first: Place | undefined; last: Place | undefined; count: number } = {
    first: undefined,
    last: undefined,
    count: 0,
  };
  /** The settled jobs of each tenant, with their bytes. */
  const ofTenants = tenantShare < 1 ? createTenantFifo<Place>() : undefined;
  const most = {
    count: partOf(deps.maxRetained, tenantShare),
    bytes: partOf(deps.maxRetainedBytes, tenantShare),
  };
  let listen: (place: Place) => void = () => {};
  let newest: Place | undefined;
  let nextSeq = 1;
  let retainedBytes = 0;

  function isOver({ settledAt, endsAt }: Place): boolean {
    if (settledAt === undefined) return false;
    const now = deps.clock.now();
    return settledAt <= now - deps.retentionMs || (endsAt !== undefined && endsAt <= now);
  }

  function remove(place: Place): void {
    if (!places.delete(place.record.jobId)) return;
    if (place.settledAt !== undefined) unchain(place);
    if (place.newer === undefined) newest = place.older;
    else place.newer.older = place.older;
    if (place.older !== undefined) place.older.newer = place.newer;
    // A dropped entry must not refer to other entries: the garbage collector would keep them.
    place.older = undefined;
    place.newer = undefined;
    listen(place);
  }

  function chain(place: Place): void {
    place.settledBefore = settled.last;
    if (settled.last === undefined) settled.first = place;
    else settled.last.settledAfter = place;
    settled.last = place;
    settled.count += 1;
    ofTenants?.add(place.record.tenantId, place.record.jobId, place, place.retainedBytes);
    retainedBytes += place.retainedBytes;
  }

  function unchain(place: Place): void {
    if (place.settledBefore === undefined) settled.first = place.settledAfter;
    else place.settledBefore.settledAfter = place.settledAfter;
    if (place.settledAfter === undefined) settled.last = place.settledBefore;
    else place.settledAfter.settledBefore = place.settledBefore;
    place.settledBefore = undefined;
    place.settledAfter = undefined;
    settled.count -= 1;
    ofTenants?.delete(place.record.tenantId, place.record.jobId);
    retainedBytes -= place.retainedBytes;
  }

  /** A tenant with more than its part loses its own oldest jobs, so that the jobs of others stay. */
  function trimTenant(of: TenantFifo<Place>, tenantId: TenantId): void {
    while (of.countOf(tenantId) > most.count || of.sizeOf(tenantId) > most.bytes) {
      const oldest = of.firstOf(tenantId);
      if (oldest === undefined) return;
      remove(oldest[1]);
    }
  }

  function sweep(): void {
    for (let place = settled.first; place !== undefined; place = settled.first) {
      const isTooMuch = settled.count > deps.maxRetained || retainedBytes > deps.maxRetainedBytes;
      if (!isTooMuch && !isOver(place)) return;
      remove(place);
    }
  }

  return {
    sweep,
    add(draft) {
      const place: Place = {
        record: draft,
        seq: nextSeq++,
        settledAt: undefined,
        endsAt: undefined,
        retainedBytes: 0,
        older: newest,
        newer: undefined,
        settledBefore: undefined,
        settledAfter: undefined,
      };
      if (newest !== undefined) newest.newer = place;
      newest = place;
      places.set(draft.jobId, place);
      return place;
    },

    get(jobId) {
      const place = places.get(jobId);
      if (place === undefined || !isOver(place)) return place;
      remove(place);
      return undefined;
    },

    settle(place) {
      place.settledAt = deps.clock.now();
      place.retainedBytes = RECORD_BYTES + sentBytes(recordAt(place));
      chain(place);
      if (ofTenants !== undefined) trimTenant(ofTenants, place.record.tenantId);
      sweep();
    },

    replace(place, record, endsAt) {
      place.record = record;
      place.endsAt = endsAt;
      retainedBytes -= place.retainedBytes - RECORD_BYTES;
      place.retainedBytes = RECORD_BYTES;
    },

    remove,
    firstSettled: () => settled.first,
    onRemoved(listener) {
      listen = listener;
    },
    liveCount: () => places.size - settled.count,
    retained: () => ({ count: settled.count, bytes: retainedBytes }),
    newest: () => newest,
  };
}

/** Data from outside, which may be large. */
function sentBytes({ result, failure }: JobRecord): number {
  let bytes = 2 * (failure?.message.length ?? 0);
  if (result === undefined) return bytes;
  bytes += 2 * (result.textAsr.length + result.textTranslated.length) + result.ttsAudio.length;
  if (result.extra !== undefined) bytes += 2 * JSON.stringify(result.extra).length;
  if (result.details !== undefined) bytes += 2 * JSON.stringify(result.details).length;
  return bytes;
}
