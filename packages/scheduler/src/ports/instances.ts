/**
 * Port: which instances of the scheduler live, and under which names.
 *
 * The law: an instance lives for `ttlMs` after it last announced or renewed itself, by the store's own clock. A name belongs to
 * one incarnation at a time: while that one lives, no other gets it. What was said at the announcement (when it started, where)
 * stays as it is however often it is renewed. One whose presence has ended comes back by its next renewal, unless another has the
 * name, it left, or it was declared dead: of a renewal and a declaration at the same time exactly one succeeds. A death is
 * remembered for `DEATH_REMEMBERED_MS`. `all` names everybody who announced itself and was not removed, the dead included: those
 * wait to be adopted. What it says of its slots is as it said it last, and nothing after a new incarnation has the name.
 * A thrown error means *unknown*; every call may be repeated with the same effect.
 */
export interface Instance {
  readonly instanceId: string;
  /** New with every start of the process, and after it was taken for dead. */
  readonly incarnation: string;
  readonly startedAt: number;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  /** Where others reach it over HTTP. */
  readonly advertiseUrl?: string | undefined;
}

export interface LivingInstance extends Instance {
  /** Up to which number the slots that it took on nodes of others last by themselves; absent: it did not say. */
  readonly lastingUpTo?: number | undefined;
}

export type Living = ReadonlyMap<string, LivingInstance>;

export type InstanceName = Pick<Instance, 'instanceId' | 'incarnation'>;

export interface Renewal {
  /**
   * `revived`: its presence had ended or was lost by the store, and nobody had taken it for dead. `lost`: it was taken for dead, or
   * another has its name; it must not go on as if it lived.
   */
  readonly kind: 'renewed' | 'revived' | 'lost';
  /** When, by the store's clock (epoch ms). */
  readonly at: number;
}

/** Who was silent for longer than this may have been declared dead and forgotten. */
export const DEATH_REMEMBERED_MS = 600_000;

export interface Instances {
  /** `taken`: another incarnation lives under this name. */
  announce(self: Instance, ttlMs: number): Promise<'announced' | 'taken'>;
  renew(self: Instance, ttlMs: number, lastingUpTo?: number): Promise<Renewal>;
  /** Goes of its own accord: what it leaves behind is adopted at once. */
  leave(self: InstanceName): Promise<void>;
  /** Those of them that live. */
  living(instanceIds: readonly string[]): Promise<Living>;
  all(): Promise<readonly string[]>;
  /** From now on who lived under this name last cannot come back, and may be adopted. `living`: it does live. */
  declareDead(instanceId: string): Promise<'dead' | 'living'>;
  /** Nothing of it is left to adopt. Changes nothing while it lives. */
  remove(instanceId: string): Promise<void>;
}
