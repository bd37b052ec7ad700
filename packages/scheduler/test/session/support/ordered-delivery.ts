/** Utterances in delivery order, and outcomes for them. */
import {
  createDelivery,
  type Deliverable,
  type Delivery,
  type DeliverySettings,
  NO_WORK,
  type Released,
  release,
  settle,
  type Work,
} from '../../../src/session/outcomes/delivery.ts';
import type { Outcome } from '../../../src/session/outcomes/outcome.ts';

export interface NamedUtterance extends Deliverable {
  readonly name: number;
}

export const ORDERING: DeliverySettings = {
  gapTimeoutMs: 10_000,
  gapMaxMs: 30_000,
  maxPendingResults: 32,
  maxPendingBytes: 1_000_000,
  maxResultBytes: 1_000_000,
  maxKeptResults: 256,
};

export const resultOf = (text: string, ttsBytes = 0): Outcome => ({
  kind: 'result',
  result: { textAsr: text, textTranslated: text, ttsAudio: 'x'.repeat(ttsBytes), ttsFormat: 'opus' },
  toNodeMs: undefined,
});

const SILENCE: Outcome = { kind: 'missing', reason: 'silence_detected' };

/** Delivered as `name` or `name!reason`; abandoned as `name?reason`. */
export const spelled = (released: readonly Released<NamedUtterance>[]): string[] =>
  released.map((one) => {
    if (one.kind === 'abandoned') return `${one.utterance.name}?${one.reason}`;
    const { utterance, outcome } = one.delivered;
    return outcome.kind === 'result' ? `${utterance.name}` : `${utterance.name}!${outcome.reason}`;
  });

export interface OrderedDelivery {
  readonly delivery: Delivery<NamedUtterance>;
  readonly utterances: readonly NamedUtterance[];
  accept(): NamedUtterance;
  /** False: it has its outcome already. */
  settle(name: number, at: number, ttsBytes?: number): boolean;
  /** The same with an outcome without content. */
  settleSilent(name: number, at: number): boolean;
  /** A node has the utterance, or has it no more. */
  setWork(name: number, state: Work['state'], since: number, nodeId?: string): void;
  release(at: number): string[];
}

export function createOrderedDelivery(
  accepted = 0,
  settings: Partial<DeliverySettings> = {},
): OrderedDelivery {
  const delivery = createDelivery<NamedUtterance>();
  const utterances: NamedUtterance[] = [];
  function find(name: number): NamedUtterance {
    const utterance = utterances[name];
    if (utterance === undefined) throw new Error(`${name} was never accepted`);
    return utterance;
  }
  const order: OrderedDelivery = {
    delivery,
    utterances,
    accept() {
      const utterance: NamedUtterance = {
        name: utterances.length,
        isSettled: false,
        outcome: undefined,
        readyAt: 0,
        nodeId: undefined,
        work: NO_WORK,
      };
      utterances.push(utterance);
      delivery.waiting.push(utterance);
      return utterance;
    },
    settle: (name, at, ttsBytes) => settle(delivery, find(name), resultOf(`text ${name}`, ttsBytes), at),
    settleSilent: (name, at) => settle(delivery, find(name), SILENCE, at),
    setWork(name, state, since, nodeId) {
      Object.assign(find(name), { work: { state, since }, nodeId });
    },
    release: (at) => spelled(release(delivery, at, { ...ORDERING, ...settings })),
  };
  for (let count = 0; count < accepted; count++) order.accept();
  return order;
}
