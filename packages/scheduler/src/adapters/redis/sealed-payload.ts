/**
 * Hot path: seals what people said before it is written to Redis, and opens it after it was read: AES-256-GCM with a key that Redis
 * never has.
 *
 * A sealed text is "sealed:<key id>:<salt>:<number, ciphertext and tag>". Every process derives its own key from the shared one and a
 * random salt, and numbers its texts: so no two texts are sealed with the same key and number, however many there are.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { createBoundedMap } from '../../domain/bounded-map.ts';
import { SchedulerError } from '../../domain/errors.ts';

export interface PayloadKey {
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/** The first one seals, all open. */
export type PayloadKeys = readonly [PayloadKey, ...PayloadKey[]];

export interface SealedPayload {
  seal(text: string): string;
  /** A text that is not sealed is returned as it is. Throws if it was sealed with an unknown key, or was changed. */
  open(text: string): string;
}

const MARK = 'sealed:';
const NUMBER_BYTES = 12;
const TAG_BYTES = 16;
/** Processes whose texts Redis may hold at a time. */
const MAX_DERIVED = 1_024;

export function createSealedPayload(keys: PayloadKeys | undefined): SealedPayload {
  if (keys === undefined) return { seal: (text) => text, open: (text) => refuseSealed(text) };
  const secrets = new Map(keys.map(({ id, secret }) => [id, secret]));
  const derived = createBoundedMap<string, Buffer>({ max: MAX_DERIVED });
  const [{ id: ownId, secret: ownSecret }] = keys;
  const ownSalt = randomBytes(16).toString('base64url');
  const ownKey = derive(ownSecret, ownSalt);
  const head = `${MARK}${ownId}:${ownSalt}:`;
  let count = 0;

  function keyOf(id: string, salt: string): Buffer {
    const known = derived.get(`${id}:${salt}`);
    if (known !== undefined) return known;
    const secret = secrets.get(id);
    if (secret === undefined)
      throw unopened(`it has key ${id}, which scheduler.cluster.payload_key_file lacks`);
    const key = derive(secret, salt);
    derived.set(`${id}:${salt}`, key);
    return key;
  }

  return {
    seal(text) {
      const number = Buffer.alloc(NUMBER_BYTES);
      number.writeUIntBE(++count, NUMBER_BYTES - 6, 6);
      const cipher = createCipheriv('aes-256-gcm', ownKey, number);
      const parts = [number, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return head + Buffer.concat(parts).toString('base64');
    },
    open(text) {
      if (!text.startsWith(MARK)) return text;
      const [, id = '', salt = '', base64 = ''] = text.split(':', 4);
      const key = keyOf(id, salt);
      const bytes = Buffer.from(base64, 'base64');
      try {
        const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NUMBER_BYTES), {
          authTagLength: TAG_BYTES,
        });
        cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return (
          cipher.update(bytes.subarray(NUMBER_BYTES, -TAG_BYTES), undefined, 'utf8') + cipher.final('utf8')
        );
      } catch (cause) {
        throw unopened('it was changed, or sealed with another key of the same id', cause);
      }
    },
  };
}

/** Nothing is sealed. */
export const PLAIN: SealedPayload = createSealedPayload(undefined);

/** A message that cannot be opened fails like any malformed one and ends as a dead letter; the others are delivered. */
export function openOrKeep({ open }: SealedPayload, body: string): string {
  try {
    return open(body);
  } catch {
    return body;
  }
}

/** Tells two keys apart, and reveals none of them. */
export const fingerprintOf = ({ secret }: PayloadKey): string =>
  createHmac('sha256', secret).update('lingua payload key').digest('base64url').slice(0, 16);

const derive = (secret: Buffer, salt: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, Buffer.from(salt, 'base64url'), 'lingua payload', 32));

function refuseSealed(text: string): string {
  if (text.startsWith(MARK)) throw unopened('scheduler.cluster.payload_key_file is not set');
  return text;
}

const unopened = (why: string, cause?: unknown): SchedulerError =>
  new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `a sealed text in Redis cannot be opened: ${why}`, {
    cause,
  });
