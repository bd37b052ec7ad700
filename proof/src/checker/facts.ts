/** A history, and what several rules need of it. Pure. */
import type { HistoryEvent } from '../../../packages/simulation/dist/history.js';
import { type Fault, faultsOf } from './faults.ts';
import { type RequestStory, requestStories } from './request-stories.ts';
import { createSightings, type Sightings } from './sightings.ts';
import { type Uptimes, uptimesOf } from './uptimes.ts';

export interface Facts {
  readonly history: readonly HistoryEvent[];
  readonly faults: readonly Fault[];
  readonly uptimes: Uptimes;
  readonly stories: readonly RequestStory[];
  readonly seen: Sightings;
}

export function gatherFacts(history: readonly HistoryEvent[]): Facts {
  const faults = faultsOf(history);
  return {
    history,
    faults,
    uptimes: uptimesOf(history, faults),
    stories: requestStories(history),
    seen: createSightings(history),
  };
}
