/** Short session times, so that tests do not wait as long as people do. */
import type { Settings } from './start-app.ts';

const CUT = 'scheduler.web_task_segmentation';

/** A pause is longer than any delay of the test machine; a final ends the utterance almost immediately. */
export const QUICK: Settings = {
  [`${CUT}.edge_stabilization.late_audio_ms`]: 20,
  [`${CUT}.edge_stabilization.hangover_manual_ms`]: 10,
  [`${CUT}.edge_stabilization.hangover_auto_ms`]: 10,
  // Legacy sessions are numbered from 0 like all others, so that tests can name an utterance.
  'session.utterance_index_base': '0',
};

/** Utterances end soon by themselves. */
export const SHORT_PAUSE: Settings = { ...QUICK, [`${CUT}.pause_ms`]: 60 };

export const MAX_BYTES = `${CUT}.max_bytes`;
export const MAX_DURATION = `${CUT}.max_duration_ms`;
