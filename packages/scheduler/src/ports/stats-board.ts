/**
 * Port: where instances put their statistics together. Cold path, for people to look at: nothing is decided by it.
 *
 * The law: the text an instance wrote last can be read for `ttlMs`, as a whole and never in part; so can the one snapshot of all,
 * whoever published it last. A thrown error means *unknown*; every call may be repeated.
 */
export interface PublishedStats {
  readonly text: string;
  /** How long it is still kept: its age by the clock of the store, which all have in common. */
  readonly leftMs: number;
}

export interface StatsBoard {
  write(instanceId: string, text: string, ttlMs: number): Promise<void>;
  /** `undefined`: it has not said anything lately. */
  read(instanceId: string): Promise<string | undefined>;
  publish(text: string, ttlMs: number): Promise<void>;
  latest(): Promise<PublishedStats | undefined>;
}
