/** The `error` message as text, with the hint of the one error table. Pure. */
import type { ErrorMessage } from '@lingua/protocol';
import { type ErrorCode, errorEntry } from '../../domain/errors.ts';

export type ErrorDetails = Readonly<Record<string, unknown>>;

export function errorText(code: ErrorCode, message: string, details: ErrorDetails = {}): string {
  const error: ErrorMessage = {
    type: 'error',
    code,
    message,
    details: { ...details, hint: errorEntry(code).hint },
  };
  return JSON.stringify(error);
}
