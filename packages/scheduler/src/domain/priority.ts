/** Vocabulary: priorities of jobs that wait for a slot. Pure. */

/** Most urgent first. */
export const PRIORITIES = ['high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Waiting jobs that were already tried once come before all others. */
export type WaitingClass = 'retry' | Priority;
export const WAITING_CLASSES: readonly WaitingClass[] = ['retry', ...PRIORITIES];

/** The requested priority, but at most the ceiling, which is also the default. */
export const priorityWithin = (ceiling: Priority, asked: Priority | undefined): Priority =>
  asked !== undefined && PRIORITIES.indexOf(asked) > PRIORITIES.indexOf(ceiling) ? asked : ceiling;
