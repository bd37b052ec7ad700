/** A signal that is never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;
