/** The bytes of a job's audio: inline, or fetched from the instance that holds them. */
import type { JobAssign } from '@lingua/protocol';
import { JobError } from './job-error.ts';

export interface AudioRules {
  /** The scheduler's socket URL; a reference without a host is relative to it. */
  readonly schedulerUrl: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export async function jobAudio(
  job: Pick<JobAssign, 'audio' | 'audio_ref'>,
  rules: AudioRules,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  const ref = job.audio_ref;
  if (ref === undefined) return Buffer.from(job.audio, 'base64');
  // An external reference may point anywhere, also into this network: the author of the node decides whether to fetch
  // it.
  if (ref.token === undefined)
    throw new JobError(
      'PROCESSING_ERROR',
      'the audio is at an external reference; read job.audio_ref.url yourself',
    );
  const limit = Math.min(rules.maxBytes, ref.bytes ?? rules.maxBytes);
  if ((ref.bytes ?? 0) > rules.maxBytes) throw tooLong(rules.maxBytes);
  const bytes = await download(
    httpUrl(ref.url, rules.schedulerUrl),
    ref.token,
    limit,
    rules.timeoutMs,
    signal,
  );
  if (ref.bytes !== undefined && bytes.length !== ref.bytes)
    throw new JobError('AUDIO_LOST', `the audio has ${bytes.length} bytes instead of ${ref.bytes}`);
  return bytes;
}

async function download(
  url: URL,
  token: string,
  limit: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      // The token is valid for this address only.
      redirect: 'error',
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new JobError(
        response.status === 404 || response.status === 410 ? 'AUDIO_LOST' : 'PROCESSING_ERROR',
        `the audio could not be fetched: ${response.status} ${response.statusText}`,
      );
    }
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > limit) throw tooLong(limit);
      parts.push(part);
    }
    return Buffer.concat(parts, size);
  } catch (error) {
    if (error instanceof JobError) throw error;
    if (signal.aborted) throw signal.reason;
    const why = timeout.aborted ? `timed out after ${timeoutMs} ms` : causeOf(error);
    throw new JobError('PROCESSING_ERROR', `the audio could not be fetched: ${why}`, undefined, {
      cause: error,
    });
  }
}

function httpUrl(address: string, schedulerUrl: string): URL {
  const base = schedulerUrl.replace(/^ws/, 'http');
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new JobError('PROCESSING_ERROR', 'the audio reference is not an http or https URL');
  return url;
}

const tooLong = (limit: number): JobError =>
  new JobError('PROCESSING_ERROR', `the audio is longer than ${limit} bytes`);

/** fetch puts the reason of a failure into its cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
