/**
 * Port: who of all instances does what should be done once. Cold path: a lock saves work, nothing is wrong without it.
 *
 * The law: of all who take the same name, exactly one is told true until `ttlMs` have passed; then the name can be taken again.
 * Names of one `Locks` never meet those of another. A thrown error means *unknown*: the name may have been taken.
 */
export interface Locks {
  take(name: string, ttlMs: number): Promise<boolean>;
}
