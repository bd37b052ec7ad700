/** Cold path: what a dead letter is about, without what was said in it. Pure. */

export interface MessageHeading {
  readonly kind?: string | undefined;
  readonly from?: string | undefined;
  readonly jobId?: string | undefined;
  readonly nodeId?: string | undefined;
}

/**
 * From the beginning of a message, which may be cut anywhere. Quotes inside a text are escaped in JSON, so that `"name":"` is
 * never found in one; and only what can be a word or an id is taken, so that no text gets through.
 */
export const headingOf = (head: string): MessageHeading => ({
  kind: firstOf(head, ['topic', 'kind', 'type']),
  from: firstOf(head, ['from']),
  jobId: firstOf(head, ['jobId', 'job_id']),
  nodeId: firstOf(head, ['nodeId', 'node_id']),
});

/** Of the first of the names that is there, where it is there first. */
function firstOf(head: string, names: readonly string[]): string | undefined {
  for (const name of names) {
    const [, value] = new RegExp(`"${name}"\\s*:\\s*"([A-Za-z0-9._:-]{1,128})"`).exec(head) ?? [];
    if (value !== undefined) return value;
  }
  return undefined;
}
