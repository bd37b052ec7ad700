/** Who drives what nodes of this instance work on, and what dead ones were told last. */
import { describe, expect, it } from 'vitest';
import { createDriverBook } from '../../src/cluster/driver-book.ts';

const answerOf = (jobId: string) => ({ jobId, nodeId: 'node-1', attempt: 1 });

describe('the book of drivers', () => {
  it('names once what drivers that died were told their nodes have', () => {
    const book = createDriverBook();
    for (const [jobId, driver] of [
      ['running', 'a/1'],
      ['silent', 'a/1'],
      ['over', 'a/1'],
      ['another', 'b/1'],
    ] as const) {
      book.note(jobId, driver);
      if (jobId !== 'silent') book.acknowledged(answerOf(jobId));
    }
    book.forget('over');
    expect(book.acknowledgedTo([])).toEqual([]);
    expect(book.acknowledgedTo(['a', 'c'])).toEqual([answerOf('running')]);
    expect(book.acknowledgedTo(['a'])).toEqual([]);
    // Its driver may be another by now: that is for the store to say.
    expect(book.find('running')).toBe('a/1');
  });

  it('knows nothing of jobs that were not handed out here', () => {
    const book = createDriverBook();
    book.acknowledged(answerOf('unheard'));
    expect([book.find('unheard'), book.acknowledgedTo(['a'])]).toEqual([undefined, []]);
  });
});
