/**
 * Vocabulary: an answer given at once or soon. On the hot path a port that has the answer at hand gives it at once, because waiting
 * for a promise costs more than most decisions; one that has to ask over the network gives a promise. Callers expect both.
 */
export type MaybePromise<T> = T | Promise<T>;
