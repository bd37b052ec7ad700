/** Cold path: the subject of a dead letter, without its content. Pure. */

export interface MessageHeading {
  readonly kind?: string | undefined;
  readonly from?: string | undefined;
  readonly jobId?: string | undefined;
  readonly nodeId?: string | undefined;
}

/**
 * Reads the first part of a message, which may be cut anywhere. Quotes inside a JSON text are escaped, so `"name":"` never occurs
 * in one. Only values that look like an id are returned, so no spoken text gets through.
 */
export const headingOf = (head: string): MessageHeading => ({
  kind: firstOf(head, ['topic', 'kind', 'type']),
  from: firstOf(head, ['from']),
  jobId: firstOf(head, ['jobId', 'job_id']),
  nodeId: firstOf(head, ['nodeId', 'node_id']),
});

/** The value of the first name that occurs, at its first occurrence. */
function firstOf(head: string, names: readonly string[]): string | undefined {
  for (const name of names) {
    const [, value] = new RegExp(`"${name}"\\s*:\\s*"([A-Za-z0-9._:-]{1,128})"`).exec(head) ?? [];
    if (value !== undefined) return value;
  }
  return undefined;
}
