/** A result as it may pass between instances: speech beyond the limit is left out, and `extra` says so. Pure. */
import type { JobResult } from './job-spec.ts';

/** Speech is base64, so its length is its bytes. */
export function fitResult(result: JobResult, inlineMaxBytes: number): JobResult {
  const bytes = result.ttsAudio.length;
  if (bytes <= inlineMaxBytes) return result;
  return {
    ...result,
    ttsAudio: '',
    extra: { ...result.extra, tts_audio_dropped: true, tts_audio_bytes: bytes },
  };
}
