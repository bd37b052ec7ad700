/** The process of an instance, and the name of an instance without a configured one. */
import { asOutsideId } from '../../domain/ids.ts';

export interface ProcessName {
  readonly hostname: string;
  readonly pid: number;
  /** Random and unique. */
  readonly newName: () => string;
}

const NAME_CHARS = 8;

/** The name of an instance without a configured one. */
export const nameOfProcess = ({ hostname, newName }: ProcessName): string =>
  `${asOutsideId(hostname)}-${newName().slice(0, NAME_CHARS)}`;
