/**
 * Port: load figures of each instance. Cold path, for operators: no decision depends on them.
 *
 * The law: the figures that an instance wrote last can be read for `ttlMs`, as a whole and never in part. A thrown error means *unknown*;
 * every call may be repeated.
 */
export interface Figures {
  /** Its nodes that are not offline, by socket or over HTTP. */
  readonly nodes: number;
  readonly sessions: number;
  /** Jobs that it drives and that have no outcome. */
  readonly jobs: number;
  /** Eight hexadecimal digits, equal for equal pools; absent: there are no pools. */
  readonly pools?: string | undefined;
}

export interface InstanceFigures {
  write(instanceId: string, figures: Figures, ttlMs: number): Promise<void>;
  /** `undefined`: it has written nothing recently. */
  read(instanceId: string): Promise<Figures | undefined>;
}
