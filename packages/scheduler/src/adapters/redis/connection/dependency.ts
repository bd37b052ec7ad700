/** What a failing Redis means to whoever asked: it may or may not have happened. */
import { isUnsent, SchedulerError } from '../../../domain/errors.ts';

export async function asDependency<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
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
