/** Hot path: where a node fetches the audio of its job; undefined if the audio goes inline. */
import type { AddressInfo } from 'node:net';
import type { AudioRef, JobAssign, JobCancel } from '@lingua/protocol';
import type { JobId } from '../../domain/ids.ts';
import type { AudioAt } from '../../domain/job-spec.ts';
import type { AudioStore } from '../../ports/audio-store.ts';
import type { NodeMailbox } from '../../ports/node-mailbox.ts';
import type { AudioTokens } from '../access/audio-tokens.ts';
import { isLoopbackAddress } from '../access/networks.ts';

export interface AudioReferences {
  refer(jobId: JobId, audio: Buffer): AudioRef | undefined;
  /** Where another instance fetches audio held here, regardless of its size. */
  referAlways(jobId: JobId, audio: Buffer): AudioAt | undefined;
  /** The message as its node gets it: with a token for audio that an instance holds. For the moment of the hand-over. */
  open(message: JobAssign): JobAssign;
  /** The address at which nodes reach this instance. Until it is set, all audio goes inline. */
  serveAt(baseUrl: string): void;
}

export function createAudioReferences(deps: {
  readonly tokens: Pick<AudioTokens, 'issue' | 'isShared'>;
  readonly inlineMaxBytes: number;
}): AudioReferences {
  let base: string | undefined;

  function referAlways(jobId: JobId, audio: Buffer): AudioAt | undefined {
    if (base === undefined) return undefined;
    const at = { url: `${base}/v1/audio/${jobId}`, bytes: audio.length };
    // Another instance may hand the job over: it cannot issue a token unless the secret is shared.
    return deps.tokens.isShared ? at : { ...at, token: deps.tokens.issue(jobId) };
  }

  return {
    refer: (jobId, audio) => (audio.length <= deps.inlineMaxBytes ? undefined : referAlways(jobId, audio)),
    referAlways,
    open(message) {
      const { audio_ref: ref, job_id: jobId } = message;
      // Only audio that an instance holds has a size here: no token goes to an address that a client named.
      if (ref?.bytes === undefined || ref.token !== undefined) return message;
      return { ...message, audio_ref: { ...ref, token: deps.tokens.issue(jobId) } };
    },
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

type Mailbox = NodeMailbox<JobAssign | JobCancel>;

/** A mailbox whose jobs get their tokens when their node fetches them. */
export const openWhenTaken = <M extends Mailbox>(mailbox: M, { open }: Pick<AudioReferences, 'open'>): M => ({
  ...mailbox,
  async take(nodeId, limits) {
    const entries = await mailbox.take(nodeId, limits);
    return entries.map((entry) =>
      entry.body.type === 'job_assign' ? { ...entry, body: open(entry.body) } : entry,
    );
  },
});

/**
 * The configured address. Without one, the listening address is used only if it is loopback: nodes cannot connect to
 * 0.0.0.0, and any other address may be behind NAT.
 */
export function audioBaseUrl(
  advertised: string | undefined,
  { address, family, port }: AddressInfo,
  hasTls = false,
): string | undefined {
  if (advertised !== undefined) return advertised;
  // A certificate names a host, not this address.
  if (!isLoopbackAddress(address) || hasTls) return undefined;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
