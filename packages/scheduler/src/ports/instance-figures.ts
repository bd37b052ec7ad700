/**
 * Port: what each instance says of how much it has to do. Cold path, for people to look at: nothing is decided by it.
 *
 * The law: the figures an instance wrote last can be read for `ttlMs`, as a whole and never in part. A thrown error means
 * *unknown*; every call may be repeated.
 */
export interface Figures {
  /** Nodes it holds that are not offline, whether by a socket or over HTTP. */
  readonly nodes: number;
  readonly sessions: number;
  /** Jobs that it drives and that have no outcome. */
  readonly jobs: number;
  /** Eight hexadecimal digits that are the same for the same pools; absent: the fleet is not divided. */
  readonly pools?: string | undefined;
}

export interface InstanceFigures {
  write(instanceId: string, figures: Figures, ttlMs: number): Promise<void>;
  /** `undefined`: it has not said anything lately. */
  read(instanceId: string): Promise<Figures | undefined>;
}
