/** Builds the node_register message. */
import os from 'node:os';
import type { NodeRegister } from '@lingua/protocol';
import type { NodeCapabilities, NodeExtension } from './node-options.ts';

export interface RegistrationFacts {
  /** From the options, or from an earlier registration. */
  readonly nodeId: string | undefined;
  readonly capabilities: NodeCapabilities;
  readonly maxConcurrentJobs: number;
  readonly supports: readonly NodeExtension[];
  /** Empty at the start: a new process under the same id must report that the jobs of the previous one are gone. */
  readonly runningJobIds: readonly string[];
}

export function registration(facts: RegistrationFacts): NodeRegister {
  const { capabilities } = facts;
  return {
    type: 'node_register',
    version: '0.0.0',
    platform: os.platform(),
    hardware: thisMachine(),
    installed_models: [],
    features_supported: {},
    accept_public_jobs: true,
    // A node that reports by type uses the second generation; naming it saves the scheduler a guess.
    ...(capabilities.capability_by_type === undefined ? {} : { capability_schema_version: '2.0' }),
    ...capabilities,
    ...(facts.nodeId === undefined ? {} : { node_id: facts.nodeId }),
    max_concurrent_jobs: facts.maxConcurrentJobs,
    supports: [...facts.supports],
    running_job_ids: [...facts.runningJobIds],
  };
}

const GIGABYTE = 1024 ** 3;

const thisMachine = (): NodeRegister['hardware'] => ({
  cpu_cores: os.availableParallelism(),
  memory_gb: Math.round((os.totalmem() / GIGABYTE) * 10) / 10,
});
