/** What nodes and clients report, counted and not kept: a soak that keeps everything grows by itself. */
import type { Recorder } from '../../../../packages/simulation/dist/history.js';

export interface Work {
  sessions: number;
  rooms: number;
  captions: number;
  resumed: number;
  vanished: number;
  utterances: number;
  dispatches: number;
  repeats: number;
  cancels: number;
  /** Event streams and long polls that their client left. */
  abandoned: number;
  refused: number;
  results: number;
  missing: number;
  nodesCut: number;
  nodesKilled: number;
  assignments: number;
}

export const noWork = (): Work => ({
  sessions: 0,
  rooms: 0,
  captions: 0,
  resumed: 0,
  vanished: 0,
  utterances: 0,
  dispatches: 0,
  repeats: 0,
  cancels: 0,
  abandoned: 0,
  refused: 0,
  results: 0,
  missing: 0,
  nodesCut: 0,
  nodesKilled: 0,
  assignments: 0,
});

/** For the nodes of the fleet, which record what they see. */
export const countingRecorder = (work: Work): Recorder => ({
  now: () => performance.now(),
  history: [],
  record({ kind }) {
    if (kind === 'assigned') work.assignments += 1;
  },
});
