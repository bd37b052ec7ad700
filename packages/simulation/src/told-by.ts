/** Simulation: what a job's record contains for its client. */
import type { JobRecord } from '../../scheduler/dist/domain/job.js';
import { readSignature, type Told } from './history.ts';

export function toldBy({ result }: JobRecord): Told | undefined {
  return result && { by: readSignature(result.textAsr), words: result.textTranslated };
}
