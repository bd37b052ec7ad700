/** Hot path: where a node fetches the audio of its job; undefined if the audio goes inline. */
import type { AddressInfo } from 'node:net';
import type { AudioRef } from '@lingua/protocol';
import type { JobId } from '../../domain/ids.ts';
import type { AudioAt } from '../../domain/job-spec.ts';
import type { AudioStore } from '../../ports/audio-store.ts';
import type { AudioTokens } from '../access/audio-tokens.ts';
import { isLoopbackAddress } from '../access/networks.ts';

export interface AudioReferences {
  refer(jobId: JobId, audio: Buffer): AudioRef | undefined;
  /** Where another instance fetches audio held here, regardless of its size. */
  referAlways(jobId: JobId, audio: Buffer): AudioAt | undefined;
  /** The address at which nodes reach this instance. Until it is set, all audio goes inline. */
  serveAt(baseUrl: string): void;
}

export function createAudioReferences(deps: {
  readonly tokens: Pick<AudioTokens, 'issue'>;
  readonly inlineMaxBytes: number;
}): AudioReferences {
  let base: string | undefined;

  function referAlways(jobId: JobId, audio: Buffer): AudioAt | undefined {
    if (base === undefined) return undefined;
    return { url: `${base}/v1/audio/${jobId}`, token: deps.tokens.issue(jobId), bytes: audio.length };
  }

  return {
    refer: (jobId, audio) => (audio.length <= deps.inlineMaxBytes ? undefined : referAlways(jobId, audio)),
    referAlways,
    serveAt(baseUrl) {
      base = baseUrl.replace(/\/+$/, '');
    },
  };
}

/** Where other instances fetch the audio of a job that is held here. */
export const createAudioLocator =
  (store: Pick<AudioStore, 'get'>, references: Pick<AudioReferences, 'referAlways'>) =>
  (jobId: JobId): AudioAt | undefined => {
    const audio = store.get(jobId);
    return audio && references.referAlways(jobId, audio);
  };

/**
 * The configured address. Without one, the listening address is used only if it is loopback: nodes cannot connect to
 * 0.0.0.0, and any other address may be behind NAT.
 */
export function audioBaseUrl(
  advertised: string | undefined,
  { address, family, port }: AddressInfo,
): string | undefined {
  if (advertised !== undefined) return advertised;
  if (!isLoopbackAddress(address)) return undefined;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
