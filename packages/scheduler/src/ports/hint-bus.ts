/**
 * Port: messages between instances that may be lost, because they are soon outdated: partial texts, loads, hints.
 *
 * The law: a message to a subscribed instance usually arrives, once, at this instance only; a message to all arrives at every instance,
 * including the sender. Sending never waits and never fails. A subscriber that throws does not affect the others.
 */
export interface HintBus {
  send(to: string, text: string): void;
  sendToAll(text: string): void;
  /** Resolves when the subscription is active, with a function that ends it. */
  subscribe(instanceId: string, receive: (text: string) => void): Promise<() => Promise<void>>;
}
