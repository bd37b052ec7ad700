/** Cold path, at the start: reads a file of secret keys that all instances share. A fault names the setting, the line and the fix. */
import { readFileSync, statSync } from 'node:fs';
import type { Log } from '../../ports/log.ts';

export interface SecretKey {
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/** The first one is used; the others are only accepted, so that keys can be replaced one instance at a time. */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]];

const KEY_BYTES = 32;
const LINE = /^([A-Za-z0-9_-]{1,32})\s+([A-Za-z0-9+/]{43}=)$/;
const FIX = 'Each line has an id and 32 random bytes in base64: echo "k1 $(openssl rand -base64 32)"';

/** Undefined: no file is configured. */
export function readKeyFile(setting: string, path: string | undefined, log: Log): SecretKeys | undefined {
  if (path === undefined) return undefined;
  const [first, ...others] = parse(readText(setting, path), `${setting}: ${path}`);
  if (first === undefined) throw new Error(`${setting}: ${path} has no key. ${FIX}`);
  if ((statSync(path).mode & 0o077) !== 0)
    log.warn({ setting, path }, 'other users of this machine can read a file of secret keys; run chmod 600');
  return [first, ...others];
}

function readText(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${setting} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

function parse(text: string, at: string): SecretKey[] {
  const keys = new Map<string, SecretKey>();
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.trim();
    if (words === '' || words.startsWith('#')) continue;
    const [, id = '', base64 = ''] = LINE.exec(words) ?? [];
    const secret = Buffer.from(base64, 'base64');
    if (secret.length !== KEY_BYTES) throw new Error(`${at}, line ${index + 1} is no key. ${FIX}`);
    if (keys.has(id)) throw new Error(`${at}, line ${index + 1} has the id of another key: ${id}`);
    keys.set(id, { id, secret });
  }
  return [...keys.values()];
}
