/** Figures of a node's heartbeat; camelCase on the wire, as in legacy nodes. */
import { type Static, Type } from 'typebox';
import { map, measure, optional } from './bounded.ts';

export const RerunMetrics = Type.Object(
  {
    totalReruns: optional(measure('Recognitions repeated')),
    successfulReruns: optional(measure('… that succeeded')),
    failedReruns: optional(measure('… that failed')),
    timeoutReruns: optional(measure('… that timed out')),
    qualityImprovements: optional(measure('… that improved the text')),
  },
  { title: 'RerunMetrics', description: 'Cumulative counts of repeated recognitions' },
);
export type RerunMetrics = Static<typeof RerunMetrics>;

export const AsrMetrics = Type.Object(
  { processingEfficiency: optional(measure('Audio time divided by processing time')) },
  { title: 'AsrMetrics', description: 'Superseded by processing_metrics' },
);
export type AsrMetrics = Static<typeof AsrMetrics>;

export const ProcessingMetrics = Type.Object(
  {
    serviceEfficiencies: optional(
      map<number>(
        measure('Efficiency'),
        1024,
        'service_id to efficiency since the last heartbeat: audio time divided by processing time, or characters per second',
      ),
    ),
  },
  { title: 'ProcessingMetrics', description: 'Speed of the services' },
);
export type ProcessingMetrics = Static<typeof ProcessingMetrics>;
