import { describe, expect, it } from 'vitest';
import {
  type AcceptanceState,
  isAdmitted,
  moveAcceptance,
  moveWatch,
  type UtteranceState,
  type WatchState,
} from '../../src/session/utterance-state.ts';

const stateOf = (acceptance: AcceptanceState, watch: WatchState = 'watched'): UtteranceState => ({
  acceptance,
  watch,
});

describe('the acceptance of an utterance', () => {
  it('is announced exactly once, after the admission', () => {
    const utterance = stateOf('received');
    expect(moveAcceptance(utterance, 'announced')).toBe(false);
    expect(moveAcceptance(utterance, 'admitted')).toBe(true);
    expect(moveAcceptance(utterance, 'announced')).toBe(true);
    expect(moveAcceptance(utterance, 'announced')).toBe(false);
    expect(utterance).toEqual(stateOf('announced'));
  });

  it('is not revoked by a second admission', () => {
    const utterance = stateOf('announced');
    expect(moveAcceptance(utterance, 'admitted')).toBe(false);
    expect(isAdmitted(utterance)).toBe(true);
  });
});

it.each(['abandoned', 'handed_over'] as const)('an utterance that is %s stays so', (state) => {
  const utterance = stateOf('admitted');
  moveWatch(utterance, state);
  moveWatch(utterance, 'abandoned');
  moveWatch(utterance, 'handed_over');
  expect(utterance).toEqual(stateOf('admitted', state));
});
