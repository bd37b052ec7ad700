/** Cold path: a span before OpenTelemetry sees it. Times are epoch milliseconds. */

export type Attributes = Readonly<Record<string, string | number>>;

export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: Attributes;
}

export interface SpanDraft {
  readonly name: string;
  /** `server`: work for a client of the scheduler; `client`: work requested from a node. */
  readonly kind: 'server' | 'client' | 'internal';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startAt: number;
  readonly endAt: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** Error code; absent: no error. */
  readonly error: string | undefined;
}

/** Drops attributes without a value. */
export function known(attributes: Readonly<Record<string, string | number | undefined>>): Attributes {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Attributes;
}

export const NO_EVENTS: readonly SpanEvent[] = [];
