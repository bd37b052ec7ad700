/** Cold path: how old what a node says of its jobs may be when it is heard. Pure. */

/**
 * Each call over HTTP has a way of its own: a job may reach the node after a report was written that is heard later than it. Longer
 * than a call may be held up by a slow store, and shorter than nodes beat: the next report is soon there. On a socket all is in order.
 */
const OVER_HTTP_MS = 2_000;

export const reportAge = (isOverHttp: boolean): { readonly ageMs?: number } => (isOverHttp ? OLD : FRESH);

const OLD = { ageMs: OVER_HTTP_MS };
const FRESH = {};
