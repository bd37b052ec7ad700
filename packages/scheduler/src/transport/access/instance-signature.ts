/** Hot path: signs the audio requests of this instance to other instances, and checks theirs. The key is shared and never travels. */
import { createHmac } from 'node:crypto';
import { createBoundedMap } from '../../domain/bounded-map.ts';
import { isEqual } from './audio-tokens.ts';

export interface InstanceSignature {
  /** The authorization header of a GET of this address. */
  sign(url: string): string;
  /** A header is accepted once, and only for a short time. */
  accepts(path: string, header: string): boolean;
}

/** For requests on their way, and clocks that differ a little. */
export const WINDOW_MS = 30_000;
/** With more requests in one window the oldest could be sent again. */
const MAX_NONCES = 50_000;

export const INSTANCE_SCHEME = 'Lingua-Instance ';
const HEADER = /^Lingua-Instance (\S{1,128}) (\d{1,15}) ([\w-]{8,64}) ([\w-]{43})$/;

export function createInstanceSignature(deps: {
  /** The first one signs, all are accepted. */
  readonly secrets: readonly [Buffer, ...Buffer[]];
  readonly instanceId: string;
  /** Epoch ms by a clock that all instances share. */
  readonly now: () => number;
  readonly newNonce: () => string;
}): InstanceSignature {
  const { secrets, instanceId, now } = deps;
  // A header is valid for a window before and after its time.
  const seen = createBoundedMap<string, true>({ max: MAX_NONCES, maxAgeMs: 2 * WINDOW_MS, now });
  const signatureOf = (secret: Buffer, path: string, from: string, at: string, nonce: string): string =>
    createHmac('sha256', secret).update(`fetch\nGET\n${path}\n${from}\n${at}\n${nonce}`).digest('base64url');

  return {
    sign(url) {
      const [at, nonce] = [String(now()), deps.newNonce()];
      const signature = signatureOf(secrets[0], pathOf(url), instanceId, at, nonce);
      return `${INSTANCE_SCHEME}${instanceId} ${at} ${nonce} ${signature}`;
    },
    accepts(path, header) {
      const [, from, at, nonce, signature] = HEADER.exec(header) ?? [];
      if (from === undefined || at === undefined || nonce === undefined || signature === undefined)
        return false;
      if (Math.abs(now() - Number(at)) > WINDOW_MS || seen.has(nonce)) return false;
      if (!secrets.some((secret) => isEqual(signature, signatureOf(secret, path, from, at, nonce))))
        return false;
      seen.set(nonce, true);
      return true;
    },
  };
}

/** A proxy may remove what is in front of it. */
const pathOf = (url: string): string => url.slice(url.lastIndexOf('/v1/audio/'));
