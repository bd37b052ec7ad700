/**
 * Vocabulary: a value now or later. On the hot path a port in memory returns the value itself, because awaiting a promise costs more than
 * most decisions; a port over the network returns a promise. Callers accept both.
 */
export type MaybePromise<T> = T | Promise<T>;
