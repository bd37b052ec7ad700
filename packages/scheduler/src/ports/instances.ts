/**
 * Port: which instances of the scheduler live, and under which names.
 *
 * The law: an instance lives for `ttlMs` after it last announced or renewed itself, by the store's own clock. A name belongs to
 * one incarnation at a time: while that one lives, no other gets it. What was said at the announcement (when it started, where)
 * stays as it is however often it is renewed. `all` names everybody who announced itself and was not removed, the dead
 * included: those wait to be adopted. A thrown error means *unknown*; every call may be repeated with the same effect.
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

export type InstanceName = Pick<Instance, 'instanceId' | 'incarnation'>;

export interface Instances {
  /** `taken`: another incarnation lives under this name. */
  announce(self: Instance, ttlMs: number): Promise<'announced' | 'taken'>;
  /** `lost`: its presence is gone, or somebody else's by now. It must not go on as if it lived. */
  renew(self: InstanceName, ttlMs: number): Promise<'renewed' | 'lost'>;
  /** Goes of its own accord: what it leaves behind is adopted at once. */
  leave(self: InstanceName): Promise<void>;
  /** Those of them that live. */
  living(instanceIds: readonly string[]): Promise<ReadonlyMap<string, Instance>>;
  all(): Promise<readonly string[]>;
  /** Nothing of it is left to adopt. Changes nothing while it lives. */
  remove(instanceId: string): Promise<void>;
}
