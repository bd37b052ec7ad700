/** Places in the order of delivery, and outcomes for them. */
import {
  createDelivery,
  type Delivery,
  type DeliverySettings,
  type Place,
  type Released,
  release,
  settle,
} from '../../src/session/outcomes/delivery.ts';
import type { Outcome } from '../../src/session/outcomes/outcome.ts';

export interface NamedPlace extends Place {
  readonly name: number;
}

export const ORDERING: DeliverySettings = {
  gapTimeoutMs: 10_000,
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

/** What left, as `name` or `name!reason`; what was given up, as `name?reason`. */
export const spelled = (released: readonly Released<NamedPlace>[]): string[] =>
  released.map((one) => {
    if (one.kind === 'given_up') return `${one.place.name}?${one.reason}`;
    const { place, outcome } = one.delivered;
    return outcome.kind === 'result' ? `${place.name}` : `${place.name}!${outcome.reason}`;
  });

export interface Order {
  readonly delivery: Delivery<NamedPlace>;
  readonly places: readonly NamedPlace[];
  accept(): NamedPlace;
  /** False: it has its outcome already. */
  settle(name: number, at: number, ttsBytes?: number): boolean;
  release(at: number): string[];
}

export function createOrder(accepted = 0, settings: Partial<DeliverySettings> = {}): Order {
  const delivery = createDelivery<NamedPlace>();
  const places: NamedPlace[] = [];
  const order: Order = {
    delivery,
    places,
    accept() {
      const place = { name: places.length, isSettled: false, outcome: undefined, readyAt: 0 };
      places.push(place);
      delivery.waiting.push(place);
      return place;
    },
    settle(name, at, ttsBytes) {
      const place = places[name];
      if (place === undefined) throw new Error(`${name} was never accepted`);
      return settle(delivery, place, resultOf(`text ${name}`, ttsBytes), at);
    },
    release: (at) => spelled(release(delivery, at, { ...ORDERING, ...settings })),
  };
  for (let count = 0; count < accepted; count++) order.accept();
  return order;
}
