/**
 * Port: messages between instances that may be lost, because they are soon outdated: partial texts, loads, hints.
 *
 * The law: a message to a subscribed instance usually arrives, once, at this instance only; a message to all arrives at every instance,
 * including the sender. Sending never waits and never fails. A subscriber that throws does not affect the others.
 */
export interface HintBus {
  say(to: string, text: string): void;
  sayToAll(text: string): void;
  /** Resolves when messages to this instance and to all arrive, with a function that ends the subscription. */
  listen(instanceId: string, hear: (text: string) => void): Promise<() => Promise<void>>;
}
