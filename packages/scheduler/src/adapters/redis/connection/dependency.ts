/** Turns a fault of Redis into SCHEDULER_DEPENDENCY_DOWN: the command may or may not have taken effect. */
import { isUnsent, SchedulerError } from '../../../domain/errors.ts';

export async function asDependency<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (fault) {
    throw dependencyFault(what, fault);
  }
}

export const dependencyFault = (what: string, fault: unknown): SchedulerError =>
  fault instanceof SchedulerError
    ? fault
    : new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `Redis did not answer: ${what}`, {
        cause: fault,
        isUnsent: isUnsent(fault),
      });
