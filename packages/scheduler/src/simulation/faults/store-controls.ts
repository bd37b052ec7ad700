/** Simulation: how the shared store can be made to fail. */
import type { Machine } from '../kernel/machine.ts';

export interface StoreControls {
  readonly shards: number;
  freezeShard(shard: number): void;
  wakeShard(shard: number): void;
  /** Commands are lost on their way to the shard, or their answers on the way back; 0 and 0: none. */
  loseSome(shard: number, chances: { readonly requests: number; readonly replies: number }): void;
  /** Its master is gone for `electionMs`; the replica that takes its place lacks what was written in the `lossMs` before. */
  failOver(shard: number, how: { readonly lossMs: number; readonly electionMs: number }): void;
  /** The machine reaches nothing of it. */
  cutOff(machine: Machine): void;
  reconnect(machine: Machine): void;
  down(): void;
  up(): void;
  /** Everything it knew is lost. */
  empty(): void;
}
