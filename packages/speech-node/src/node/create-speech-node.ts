/** A node of the scheduler whose jobs run on engines of this machine. */
import { createNode, type GpuNode, NODE_EXTENSIONS, type NodeOptions } from '@lingua/sdk/node';
import type { Engines } from '../engines/engines.ts';
import { capabilitiesOf, offeredEngines } from './capabilities.ts';
import { STAGES, type Stage } from './chain-of-job.ts';
import { createOtherLoadMeter } from './other-load.ts';
import { createRunChain } from './run-chain.ts';

export interface SpeechNodeOptions
  extends Pick<
    NodeOptions,
    'url' | 'token' | 'nodeId' | 'maxConcurrentJobs' | 'log' | 'onStatus' | 'resources'
  > {
  readonly engines: Engines;
  /** Default: all. */
  readonly stages?: readonly Stage[];
  readonly version: string;
  readonly timings?: NonNullable<NodeOptions['timings']>;
}

/** The caller closes the engines after it has stopped the node. */
export function createSpeechNode({
  engines: all,
  stages = STAGES,
  version,
  resources = createOtherLoadMeter(),
  ...options
}: SpeechNodeOptions): GpuNode {
  const engines = offeredEngines(all, stages);
  return createNode({
    ...options,
    resources,
    supports: [
      ...NODE_EXTENSIONS,
      'text_input',
      'stage_results',
      'glossary',
      // Unfinished speech is recognised and translated like any other, in jobs of one stage.
      'interim',
    ],
    capabilities: capabilitiesOf(engines, stages, version),
    onJob: createRunChain(engines),
  });
}
