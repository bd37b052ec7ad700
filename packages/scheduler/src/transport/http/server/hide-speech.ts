/** Removes what people said from replies to viewers, by the marks in the schema of the reply. */
import { type HttpEndpoint, speechFields } from '@lingua/protocol';
import type { preSerializationHookHandler } from 'fastify';
import { maySeeSpeech } from '../../access/gate.ts';

/** Only replies that viewers may get are searched: others cost nothing. */
export function hasHiddenFields({ roles, reply, isStream, path }: HttpEndpoint): boolean {
  const hasSome = roles.includes('viewer') && speechFields(reply).length > 0;
  // Events are text when they are sent, so nothing could be removed.
  if (hasSome && isStream === true) throw new Error(`${path} would stream speech to viewers`);
  return hasSome;
}

export function hideSpeech({ reply }: HttpEndpoint): preSerializationHookHandler<unknown> {
  const paths = speechFields(reply).map((path) => path.split(/(?:\.|(?=\[\]))/));
  return ({ principal }, _reply, payload, done) => {
    // A refused caller has no principal.
    const isWhole = principal !== undefined && maySeeSpeech(principal);
    done(null, isWhole ? payload : paths.reduce(without, payload));
  };
}

/** A copy without the field at the path: payloads may be shared with other requests. */
function without(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (name === '[]') return Array.isArray(value) ? value.map((item) => without(item, rest)) : value;
  if (typeof value !== 'object' || value === null || !(name in value)) return value;
  const { [name]: field, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [name]: without(field, rest) };
}
