/** Reads frames of the scheduler: their type, and single fields with a type check. */

/** An object with a type; its other fields are unchecked. */
export interface ServerFrame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Undefined: not a message. */
export function readFrame(text: string): ServerFrame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isMessage = (value: unknown): value is ServerFrame =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const asCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
