/**
 * Port: where instances exchange their statistics. Cold path, for operators: no decision depends on it.
 *
 * The law: the text that an instance wrote last can be read for `ttlMs`, as a whole and never in part; so can the one snapshot of all
 * instances, whichever instance published it last. A thrown error means *unknown*; every call may be repeated.
 */
export interface PublishedStats {
  readonly text: string;
  /** Remaining lifetime: it gives the age by the store's clock, which all instances share. */
  readonly leftMs: number;
}

export interface StatsStore {
  write(instanceId: string, text: string, ttlMs: number): Promise<void>;
  /** `undefined`: it has written nothing recently. */
  read(instanceId: string): Promise<string | undefined>;
  publish(text: string, ttlMs: number): Promise<void>;
  latest(): Promise<PublishedStats | undefined>;
}
