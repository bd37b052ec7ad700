/**
 * Port: words between instances that may be lost, because they are soon outdated: partial texts, loads, hints.
 *
 * The law: what is said to an instance that listens is usually heard, once, by it alone; what is said to all is heard by everybody,
 * the speaker included. Saying never waits and never fails. A listener that throws harms nobody else.
 */
export interface HintBus {
  say(to: string, text: string): void;
  sayToAll(text: string): void;
  /** Resolves when words to this instance and to all are heard, to a function that ends it. */
  listen(instanceId: string, hear: (text: string) => void): Promise<() => Promise<void>>;
}
