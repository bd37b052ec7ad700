/** I5: a session receives the outcomes of its utterances once, numbered without gaps, and in the order of the utterances. Pure. */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { lostWrites } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

type Delivered = Extract<HistoryEvent, { kind: 'delivered' }>;
type Accepted = Extract<HistoryEvent, { kind: 'accepted' }>;

interface SessionDeliveries {
  readonly bySeq: Map<number, Delivered>;
  last: Delivered | undefined;
  /** The order of utterances is that of each language, for its text and for its voice. */
  readonly lanes: Map<string, Lane>;
}

interface Lane {
  readonly seqOf: Map<number, number>;
  last: Delivered | undefined;
  /** First acceptances, by the index of the utterance. */
  readonly accepted: Map<number, Accepted>;
  /** The index under which a request was accepted last. */
  readonly numbered: Map<string, number>;
}

export function checkOrder({ history, faults }: Facts, allowances: Allowances): Finding {
  const sessions = new Map<string, SessionDeliveries>();
  const violations: Violation[] = [];
  const mayBeLost = lostWrites(faults, allowances);
  let [deliveries, repeats, reworded] = [0, 0, 0];
  const deliveriesOf = (session: string): SessionDeliveries => {
    const deliveries = sessions.get(session) ?? { bySeq: new Map(), last: undefined, lanes: new Map() };
    sessions.set(session, deliveries);
    return deliveries;
  };
  const laneOf = ({ lanes }: SessionDeliveries, name = ''): Lane => {
    const lane = lanes.get(name) ?? {
      seqOf: new Map(),
      last: undefined,
      accepted: new Map(),
      numbered: new Map(),
    };
    lanes.set(name, lane);
    return lane;
  };
  const found = ({ at, session, client }: Delivered, message: string): void => {
    violations.push({
      invariant: 'I5 order',
      at,
      message: `${session} of ${client} ${message}`,
      about: [session, client],
    });
  };

  function noteDelivered(each: Delivered): void {
    const own = deliveriesOf(each.session);
    const lane = laneOf(own, each.lane);
    const { bySeq, last } = own;
    const before = bySeq.get(each.seq);
    if (before !== undefined) {
      repeats += 1;
      const isSameUtterance = before.index === each.index && before.lane === each.lane;
      if (isSameUtterance && before.what === each.what) return;
      // A failover may lose the reason that was delivered: the next owner finds its own reason for the missing result. The client drops
      // the repeat by its number.
      if (isSameUtterance && isMissing(before) && isMissing(each) && mayBeLost(before.at)) reworded += 1;
      else found(each, `got two outcomes numbered ${each.seq}: ${label(before)} and ${label(each)}`);
      return;
    }
    deliveries += 1;
    bySeq.set(each.seq, each);
    const expected = (last?.seq ?? 0) + 1;
    if (each.seq !== expected) found(each, `got number ${each.seq} where ${expected} was next`);
    if (lane.last !== undefined && each.index <= lane.last.index)
      found(each, `got ${label(each)} after ${label(lane.last)}`);
    const earlier = lane.seqOf.get(each.index);
    if (earlier !== undefined) found(each, `got ${label(each)} as number ${earlier} and as ${each.seq}`);
    lane.seqOf.set(each.index, each.seq);
    if (last === undefined || each.seq > last.seq) own.last = each;
    if (lane.last === undefined || each.seq > lane.last.seq) lane.last = each;
  }

  for (const each of ofKind(history, 'delivered', 'accepted')) {
    if (each.kind === 'delivered') noteDelivered(each);
    else if (each.session !== undefined && each.index !== undefined) {
      const { accepted, numbered } = laneOf(deliveriesOf(each.session), each.lane);
      if (!accepted.has(each.index)) accepted.set(each.index, each);
      numbered.set(each.request, each.index);
    }
  }
  const passedOver = checkPassedOver(sessions, mayBeLost);
  violations.push(...passedOver.violations, ...checkSpeakers(history));
  return {
    violations,
    counts: {
      sessions: sessions.size,
      'repeated deliveries': repeats,
      'missing results repeated with another reason after a failover': reworded,
      'utterances renumbered after a failover': passedOver.renumbered,
    },
    judged: { 'I5 order': deliveries },
  };
}

const isMissing = ({ what }: Delivered): boolean => what.startsWith('missing_result');

const label = ({ index, what, lane }: Delivered): string =>
  `utterance ${index} (${what}${lane === undefined ? '' : ` in ${lane}`})`;

/**
 * A client that received a later utterance has received every earlier one that was accepted. A failover may lose the number of an
 * utterance together with its owner: sent again, it has another number, and an outcome under that.
 */
function checkPassedOver(
  sessions: ReadonlyMap<string, SessionDeliveries>,
  mayBeLost: (sentAt: number) => boolean,
): { readonly violations: readonly Violation[]; readonly renumbered: number } {
  const violations: Violation[] = [];
  let renumbered = 0;
  const lanes = [...sessions].flatMap(([session, own]) =>
    [...own.lanes.values()].map((lane) => ({ session, ...lane })),
  );
  for (const { session, accepted, numbered, seqOf, last } of lanes) {
    if (last === undefined) continue;
    const missed: number[] = [];
    for (const [index, { request, at }] of accepted) {
      if (index >= last.index || seqOf.has(index)) continue;
      if (mayBeLost(at) && (numbered.get(request) ?? index) > index) renumbered += 1;
      else missed.push(index);
    }
    if (missed.length === 0) continue;
    violations.push({
      invariant: 'I5 order',
      at: last.at,
      message: `${session} of ${last.client} got utterance ${last.index} and never ${missed.join(', ')}, which had been accepted`,
      about: [session, last.client],
    });
  }
  return { violations, renumbered };
}

/** Also across sessions that could not be resumed: outcomes arrive in the order of the utterances. For clients with sessions only. */
function checkSpeakers(history: readonly HistoryEvent[]): Violation[] {
  const speakers = new Set(ofKind(history, 'delivered').map(({ client }) => client));
  /** By client and request: ids are not unique among tenants. */
  const saidAt = new Map<string, Map<string, { readonly said: number; readonly lane: string }>>();
  for (const [said, { client, request, part }] of ofKind(history, 'asked').entries()) {
    if (!speakers.has(client)) continue;
    const lane = part === undefined ? client : `${client} ${part.language} ${part.kind}`;
    const sayings = saidAt.get(client) ?? new Map();
    saidAt.set(client, sayings.set(request, { said, lane }));
  }
  /** By lane. */
  const received = new Map<string, { request: string; said: number }>();
  return ofKind(history, 'outcome').flatMap(({ client, request, at }): Violation[] => {
    const saying = saidAt.get(client)?.get(request);
    if (saying === undefined) return [];
    const { said, lane } = saying;
    const last = received.get(lane);
    received.set(lane, { request, said });
    if (last === undefined || last.said < said) return [];
    return [
      {
        invariant: 'I5 order',
        at,
        message: `${client} got the outcome of ${request} after ${last.request}, which it had sent later`,
        about: [client, request, last.request],
      },
    ];
  });
}
