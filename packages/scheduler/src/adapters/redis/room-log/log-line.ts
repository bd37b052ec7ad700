/** One line of a log as it is stored: its body is sealed, and an erased one has none. Pure. */
import type { LoggedEntry } from '../../../domain/room-log.ts';
import type { SealedPayload } from '../sealed-payload.ts';

export const entryOf = (payload: SealedPayload, seq: number, body: string): LoggedEntry =>
  body === '' ? { kind: 'erased', seq } : { ...JSON.parse(payload.open(body)), seq };

/** Scripts separate the parts of a line by line breaks, and tell keys from the names of other fields by the quotation mark. */
export const lineBreakFree = (text: string): string => JSON.stringify(text);
