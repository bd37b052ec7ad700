/** Vocabulary: how urgent work is that waits for a slot. Pure. */

/** Most urgent first. */
export const PRIORITIES = ['high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Of jobs that wait: those accepted and tried once come before all others. */
export type WaitingClass = 'retry' | Priority;
export const WAITING_CLASSES: readonly WaitingClass[] = ['retry', ...PRIORITIES];

/** What is asked for, but never more than the ceiling, which is also what those get who ask for nothing. */
export const priorityWithin = (ceiling: Priority, asked: Priority | undefined): Priority =>
  asked !== undefined && PRIORITIES.indexOf(asked) > PRIORITIES.indexOf(ceiling) ? asked : ceiling;
