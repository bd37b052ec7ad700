/** How long the board remembers: a node record after its node was last heard of, and that one was withdrawn. */

export const RECORD_LIFE_MS = 3_600_000;
export const WITHDRAWN_LIFE_MS = 60_000;
