/** The process that an instance runs in, as others are told of it. */
import { asOutsideId } from '../../domain/ids.ts';

export interface ProcessName {
  readonly hostname: string;
  readonly pid: number;
  /** Unguessable and never the same again. */
  readonly newName: () => string;
}

const NAME_CHARS = 8;

/** Of an instance that nobody gave a name. */
export const nameOfProcess = ({ hostname, newName }: ProcessName): string =>
  `${asOutsideId(hostname)}-${newName().slice(0, NAME_CHARS)}`;
