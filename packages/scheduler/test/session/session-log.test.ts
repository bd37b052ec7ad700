/** What happened in sessions: without texts, bounded over all sessions. */
import { describe, expect, it } from 'vitest';
import type { SessionEffect, SessionEvent } from '../../src/session/event.ts';
import type { Session } from '../../src/session/session.ts';
import { createSessionLog } from '../../src/session/session-log.ts';

const sessionOf = (sessionId: string) => ({ sessionId, tenantId: 'acme' }) as Session;
const SECRET = 'what people said';
const utterance = { index: 3, jobId: 'job-3' };

describe('session log', () => {
  it('has what happened, in order and without texts', () => {
    const log = createSessionLog();
    const a = sessionOf('a');
    log.noteEvent(a, { kind: 'attached', isResumed: false, hasMoved: false } as SessionEvent, 1);
    log.noteEffect(a, { kind: 'send', output: { kind: 'accepted', utterance } } as SessionEffect, 2);
    const partial = { kind: 'partial', utterance, text: SECRET, isFinal: false } as SessionEvent;
    log.noteEvent(a, partial, 3);
    log.noteEvent(a, partial, 4);
    const result = { kind: 'result', result: { textAsr: SECRET } };
    const outcome = { kind: 'outcome', delivered: { utterance, outcome: result } };
    log.noteEffect(a, { kind: 'send', output: outcome } as unknown as SessionEffect, 5);
    log.noteEvent(a, { kind: 'detached' } as SessionEvent, 6);
    log.noteEvent(a, { kind: 'attached', isResumed: true, hasMoved: true } as SessionEvent, 7);
    log.noteEffect(a, { kind: 'end', reason: 'closed' }, 8);
    expect(log.of('a').map(({ kind, at, index, detail }) => [kind, at, index, detail])).toEqual([
      ['opened', 1, undefined, undefined],
      ['accepted', 2, 3, undefined],
      ['partial', 3, 3, undefined],
      ['delivered', 5, 3, undefined],
      ['disconnected', 6, undefined, undefined],
      ['resumed', 7, undefined, 'moved'],
      ['closed', 8, undefined, 'closed'],
    ]);
    expect(JSON.stringify(log.of('a'))).not.toContain(SECRET);
  });

  it('I11: keeps the newest entries of all sessions together', () => {
    const log = createSessionLog(10);
    for (let at = 0; at < 25; at += 1)
      log.noteEvent(sessionOf(at % 2 === 0 ? 'a' : 'b'), { kind: 'detached' } as SessionEvent, at);
    expect(log.of('a').map(({ at }) => at)).toEqual([16, 18, 20, 22, 24]);
    expect(log.of('b').map(({ at }) => at)).toEqual([15, 17, 19, 21, 23]);
  });
});
