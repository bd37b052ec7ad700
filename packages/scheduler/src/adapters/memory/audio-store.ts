/** Input audio of jobs in flight and claimed room of sessions, bounded per job and in total. */
import type { JobId } from '../../domain/ids.ts';
import type { AudioStore } from '../../ports/audio-store.ts';

export function createAudioStore(deps: { maxBytes: number; maxBytesPerJob: number }): AudioStore {
  const held = new Map<JobId, Buffer>();
  let heldBytes = 0;
  let claimedBytes = 0;

  const size = (): number => heldBytes + claimedBytes;

  function drop(jobId: JobId): void {
    heldBytes -= held.get(jobId)?.length ?? 0;
    held.delete(jobId);
  }

  return {
    put(jobId, audio) {
      const before = held.get(jobId)?.length ?? 0;
      if (audio.length > deps.maxBytesPerJob || size() - before + audio.length > deps.maxBytes) return 'full';
      drop(jobId);
      held.set(jobId, audio);
      heldBytes += audio.length;
      return 'held';
    },
    get: (jobId) => held.get(jobId),
    drop,
    claim(bytes) {
      if (size() + bytes > deps.maxBytes) return 'full';
      claimedBytes += bytes;
      return 'claimed';
    },
    unclaim(bytes) {
      claimedBytes = Math.max(0, claimedBytes - bytes);
    },
    size,
    usedShare: () => size() / deps.maxBytes,
  };
}
