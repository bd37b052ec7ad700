/** The process of an instance, and the name of that instance. */
import { asOutsideId } from '../../domain/ids.ts';

export interface ProcessName {
  readonly hostname: string;
  readonly pid: number;
  /** Random and unique. */
  readonly newName: () => string;
  readonly instanceId: string;
}

const NAME_CHARS = 8;

/** `configured`: scheduler.cluster.instance_id. */
export const nameInstance = (
  configured: string,
  { hostname, newName }: Pick<ProcessName, 'hostname' | 'newName'>,
): string =>
  configured === 'auto' ? `${asOutsideId(hostname)}-${newName().slice(0, NAME_CHARS)}` : configured;
