/** The bytes of a job's audio: inline, or fetched from the instance that holds them. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { JobAssign } from '@lingua/protocol';
import { JobError } from './job-error.ts';
import type { NodeOptions } from './node-options.ts';

export interface AudioRules {
  /** The scheduler's socket URL; a reference without a host is relative to it. */
  readonly schedulerUrl: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly tls?: NodeOptions['tls'];
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
  const url = httpUrl(ref.url, rules.schedulerUrl);
  const bytes = await download(url, ref.token, limit, rules, signal);
  if (ref.bytes !== undefined && bytes.length !== ref.bytes)
    throw new JobError('AUDIO_LOST', `the audio has ${bytes.length} bytes instead of ${ref.bytes}`);
  return bytes;
}

async function download(
  url: URL,
  token: string,
  limit: number,
  { timeoutMs, tls }: AudioRules,
  signal: AbortSignal,
): Promise<Buffer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    // No redirect is followed: the token is valid for this address only.
    const response = await get(url, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, timeout]),
      ...tls,
    });
    const { statusCode, statusMessage } = response;
    if (statusCode !== 200) {
      response.resume();
      throw new JobError(
        statusCode === 404 || statusCode === 410 ? 'AUDIO_LOST' : 'PROCESSING_ERROR',
        `the audio could not be fetched: ${statusCode} ${statusMessage}`,
      );
    }
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > limit) throw tooLong(limit);
      parts.push(part);
    }
    return Buffer.concat(parts, size);
  } catch (error) {
    if (error instanceof JobError) throw error;
    if (signal.aborted) throw signal.reason;
    const why = timeout.aborted ? `timed out after ${timeoutMs} ms` : (error as Error).message;
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

const get = (url: URL, options: https.RequestOptions): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    request(url, options, resolve).on('error', reject).end();
  });
