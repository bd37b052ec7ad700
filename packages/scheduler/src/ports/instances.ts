/**
 * Port: presence of the scheduler's instances, by name.
 *
 * The law: an instance is alive for `ttlMs` after it last announced or renewed itself, by the store's own clock. A name belongs to
 * one incarnation at a time: while that one is alive, no other incarnation gets it. The announced facts (start, host, URL) do not
 * change with a renewal. An instance whose presence has ended is alive again with its next renewal, unless another incarnation has
 * the name, it left, or it was declared dead: of a concurrent renewal and declaration exactly one succeeds. A declared death is
 * remembered for `DEATH_REMEMBERED_MS`. `all` names every instance that announced itself and was not removed, including dead ones,
 * whose work other instances take over. A thrown error means *unknown*; every call may be repeated with the same effect.
 */
export interface Instance {
  readonly instanceId: string;
  /** New with every start of the process, and after the instance was declared dead. */
  readonly incarnation: string;
  readonly startedAt: number;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  /** Where other instances reach it over HTTP. */
  readonly advertiseUrl?: string | undefined;
}

export type Living = ReadonlyMap<string, Instance>;

export type InstanceName = Pick<Instance, 'instanceId' | 'incarnation'>;

export interface Renewal {
  /**
   * `revived`: its presence had ended or was lost by the store, and no instance had declared it dead. `lost`: it was declared dead, or
   * another incarnation has its name; this incarnation must stop its work.
   */
  readonly kind: 'renewed' | 'revived' | 'lost';
  /** Time of the renewal by the store's clock (epoch ms). */
  readonly at: number;
}

/** An instance that did not renew for longer than this may have been declared dead, and the store may have forgotten that. */
export const DEATH_REMEMBERED_MS = 600_000;

export interface Instances {
  /** `taken`: another incarnation is alive under this name. */
  announce(self: Instance, ttlMs: number): Promise<'announced' | 'taken'>;
  renew(self: Instance, ttlMs: number): Promise<Renewal>;
  /** The instance stops by itself: other instances take its work over at once. */
  leave(self: InstanceName): Promise<void>;
  /** Those of the named instances that are alive. */
  living(instanceIds: readonly string[]): Promise<Living>;
  all(): Promise<readonly string[]>;
  /** `dead`: the last incarnation of this name can no longer renew itself, and its work may be taken over. `living`: it is alive. */
  declareDead(instanceId: string): Promise<'dead' | 'living'>;
  /**
   * Removes the name when its work is taken over completely, and answers how the instance ended: `left` by itself, or `died`.
   * Changes nothing while it is `living`.
   */
  remove(instanceId: string): Promise<'left' | 'died' | 'living'>;
}
