/** Input audio of jobs in flight and claimed room of sessions, bounded per job, per tenant and in total. */
import type { JobId, TenantId } from '../../domain/ids.ts';
import { createTenantUse } from '../../domain/tenant-use.ts';
import type { AudioStore } from '../../ports/audio-store.ts';

/** `tenantShare`: of all bytes, for one tenant; absent: there is no such limit. */
export function createAudioStore(deps: {
  maxBytes: number;
  maxBytesPerJob: number;
  tenantShare?: number;
}): AudioStore {
  const { maxBytes, tenantShare = 1 } = deps;
  const held = new Map<JobId, Buffer>();
  const tenantUse = createTenantUse(maxBytes, tenantShare);
  /** Whose the audio is, if that matters. */
  const tenantOf = tenantShare < 1 ? new Map<JobId, TenantId>() : undefined;
  let heldBytes = 0;
  let claimedBytes = 0;

  const size = (): number => heldBytes + claimedBytes;

  function drop(jobId: JobId): void {
    const bytes = held.get(jobId)?.length ?? 0;
    heldBytes -= bytes;
    held.delete(jobId);
    const tenantId = tenantOf?.get(jobId);
    if (tenantId === undefined) return;
    tenantOf?.delete(jobId);
    tenantUse.add(tenantId, -bytes);
  }

  return {
    put(jobId, tenantId, audio) {
      const more = audio.length - (held.get(jobId)?.length ?? 0);
      if (audio.length > deps.maxBytesPerJob || size() + more > maxBytes) return 'full';
      if (!tenantUse.hasRoom(tenantId, more)) return 'tenant_full';
      drop(jobId);
      held.set(jobId, audio);
      tenantOf?.set(jobId, tenantId);
      tenantUse.add(tenantId, audio.length);
      heldBytes += audio.length;
      return 'held';
    },
    get: (jobId) => held.get(jobId),
    drop,
    claim(tenantId, bytes) {
      if (size() + bytes > maxBytes) return 'full';
      if (!tenantUse.hasRoom(tenantId, bytes)) return 'tenant_full';
      claimedBytes += bytes;
      tenantUse.add(tenantId, bytes);
      return 'claimed';
    },
    unclaim(tenantId, bytes) {
      const released = Math.min(claimedBytes, bytes);
      claimedBytes -= released;
      tenantUse.add(tenantId, -released);
    },
    size,
    usedShare: () => size() / maxBytes,
  };
}
