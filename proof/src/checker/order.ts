/** I5: a session hears the outcomes of its utterances once, numbered without holes, and in the order in which they were said. Pure. */
import { type Happening, ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import type { Finding, Violation } from './violation.ts';

type Delivered = Extract<Happening, { kind: 'delivered' }>;

export function checkOrder(history: readonly Happening[]): Finding {
  const sessions = new Map<string, Delivered[]>();
  for (const each of ofKind(history, 'delivered'))
    sessions.set(each.session, [...(sessions.get(each.session) ?? []), each]);
  const checked = [...sessions.values()].map(checkSession);
  return {
    violations: [...checked.flatMap(({ violations }) => violations), ...checkSpeakers(history)],
    counts: {
      sessions: sessions.size,
      'repeated deliveries': checked.reduce((sum, { repeats }) => sum + repeats, 0),
    },
  };
}

function checkSession(deliveries: readonly Delivered[]): { violations: Violation[]; repeats: number } {
  const violations: Violation[] = [];
  const bySeq = new Map<number, Delivered>();
  const seqOf = new Map<number, number>();
  let last: Delivered | undefined;
  let repeats = 0;
  const found = ({ at, session, client }: Delivered, says: string): void => {
    violations.push({
      invariant: 'I5 order',
      at,
      says: `${session} of ${client} ${says}`,
      about: [session, client],
    });
  };

  for (const each of deliveries) {
    const before = bySeq.get(each.seq);
    if (before !== undefined) {
      repeats += 1;
      if (before.index !== each.index || before.what !== each.what)
        found(each, `got two outcomes numbered ${each.seq}: ${label(before)} and ${label(each)}`);
      continue;
    }
    bySeq.set(each.seq, each);
    const expected = (last?.seq ?? 0) + 1;
    if (each.seq !== expected) found(each, `got number ${each.seq} where ${expected} was next`);
    if (last !== undefined && each.index <= last.index)
      found(each, `got utterance ${each.index} after ${last.index}`);
    const earlier = seqOf.get(each.index);
    if (earlier !== undefined)
      found(each, `got utterance ${each.index} as number ${earlier} and as ${each.seq}`);
    seqOf.set(each.index, each.seq);
    if (last === undefined || each.seq > last.seq) last = each;
  }
  return { violations, repeats };
}

const label = ({ index, what }: Delivered): string => `utterance ${index} (${what})`;

/** Also across sessions that could not be resumed: what was said first is heard first. Only of those who have sessions. */
function checkSpeakers(history: readonly Happening[]): Violation[] {
  const speakers = new Set(ofKind(history, 'delivered').map(({ client }) => client));
  const saidAt = new Map<string, number>();
  for (const [at, { request }] of ofKind(history, 'asked').entries()) saidAt.set(request, at);
  const heard = new Map<string, { request: string; said: number }>();
  return ofKind(history, 'outcome').flatMap(({ client, request, at }): Violation[] => {
    const said = saidAt.get(request);
    if (!speakers.has(client) || said === undefined) return [];
    const last = heard.get(client);
    heard.set(client, { request, said });
    if (last === undefined || last.said < said) return [];
    return [
      {
        invariant: 'I5 order',
        at,
        says: `${client} heard of ${request} after ${last.request}, which it had said later`,
        about: [client, request, last.request],
      },
    ];
  });
}
