/**
 * Port: asks another instance something over a line of its own, past the store.
 *
 * The law: the question arrives at most once, and whole, and the answer is what was answered to it, or there is none. It never throws
 * and never takes longer than the limit. Only who has the key takes it: an address may lead to somebody else by now.
 */

/** Where instances take questions of one another, below their address. */
export const DIRECT_PATH = '/internal/v1/questions';

export interface LineAddress {
  readonly url: string;
  /** Of one life of one instance. Not for logs, nor for anybody's eyes. */
  readonly key: string;
}

export type DirectAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  /** It is there, and did not take the question: not now. */
  | { readonly kind: 'busy' }
  /** Nobody took it: nobody is there, or not whom it was meant for. */
  | { readonly kind: 'unreached' }
  /** It may have been taken, and nothing was heard of it. */
  | { readonly kind: 'unclear' };

export interface DirectLine {
  ask(at: LineAddress, question: string, limitMs: number): Promise<DirectAnswer>;
  close(): void;
}
