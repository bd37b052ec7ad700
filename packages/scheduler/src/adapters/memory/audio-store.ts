/** Input audio of the jobs in flight, bounded per job and in all. */
import type { JobId } from '../../domain/ids.ts';
import type { AudioStore } from '../../ports/audio-store.ts';

export function createAudioStore(deps: { maxBytes: number; maxBytesPerJob: number }): AudioStore {
  const held = new Map<JobId, Buffer>();
  let bytes = 0;

  function drop(jobId: JobId): void {
    bytes -= held.get(jobId)?.length ?? 0;
    held.delete(jobId);
  }

  return {
    put(jobId, audio) {
      const before = held.get(jobId)?.length ?? 0;
      if (audio.length > deps.maxBytesPerJob || bytes - before + audio.length > deps.maxBytes) return 'full';
      drop(jobId);
      held.set(jobId, audio);
      bytes += audio.length;
      return 'held';
    },
    get: (jobId) => held.get(jobId),
    drop,
    size: () => bytes,
  };
}
