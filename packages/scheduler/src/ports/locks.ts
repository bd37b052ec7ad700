/**
 * Port: decides which of all instances does something that should be done once. Cold path: a lock saves work; correctness does not depend
 * on it.
 *
 * The law: of all instances that take the same name, exactly one gets true until `ttlMs` have passed; then the name can be taken again.
 * Names of one `Locks` are separate from those of another. A thrown error means *unknown*: the name may have been taken.
 */
export interface Locks {
  take(name: string, ttlMs: number): Promise<boolean>;
}
