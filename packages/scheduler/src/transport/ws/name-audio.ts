/** Names the audio of a refused message, so that the client can give it up: its fields may be invalid themselves. Pure. */
import { ID_PATTERN } from '@lingua/protocol';
import type { ErrorDetails } from './error-message.ts';

const ID = new RegExp(ID_PATTERN);

/** Undefined: the message carries no audio. */
export function nameAudio(
  type: string | undefined,
  fields: Readonly<Record<string, unknown>>,
): ErrorDetails | undefined {
  const { utterance_index: index } = fields;
  if (type === 'utterance')
    return { ...requestIdOf(fields), ...(isCount(index) && { utterance_index: index }) };
  const place = type === 'audio_chunk' ? placeOf(fields) : undefined;
  return place && { ...requestIdOf(fields), first_seq: place.seq, last_seq: place.seq };
}

/** The place of an invalid chunk in its stream; undefined: nobody can know it. */
export function placeOf(
  fields: Readonly<Record<string, unknown>>,
): { readonly seq: number; readonly isFinal: boolean; readonly requestId: string | undefined } | undefined {
  const { seq, is_final: isFinal } = fields;
  if (!isCount(seq)) return undefined;
  return { seq, isFinal: isFinal === true, requestId: requestIdOf(fields).request_id };
}

const requestIdOf = ({ request_id: id }: Readonly<Record<string, unknown>>): { request_id?: string } =>
  typeof id === 'string' && ID.test(id) ? { request_id: id } : {};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
