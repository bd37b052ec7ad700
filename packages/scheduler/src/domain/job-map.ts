/**
 * Hot path: what is kept of each job, found by the job's name. A Map spreads its keys over its whole table, and of a table of many jobs
 * hardly anything is at hand when it is looked at. Here jobs that came one after the other are neighbours: what is looked for was touched lately.
 * Nothing that was taken out is kept alive by it, as an outgrown Map does (see numbered-map.ts).
 */
import { numberIn } from './job-name.ts';

const FIRST_ROOM = 1_024;
const NONE = -1;

export class JobMap<V> {
  /** By number: the first place of each chain. Always a power of two of them. */
  private firsts = new Int32Array(FIRST_ROOM).fill(NONE);
  /** By place: the next one of its chain, or the next free one. */
  private nexts = new Int32Array(FIRST_ROOM);
  private readonly names: (string | undefined)[] = [];
  private readonly held: (V | undefined)[] = [];
  private free = NONE;
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(name: string): V | undefined {
    const { names, nexts } = this;
    let place = this.firstOf(name);
    while (place !== NONE && names[place] !== name) place = nexts[place] as number;
    return place === NONE ? undefined : this.held[place];
  }

  set(name: string, value: V): void {
    const { names, nexts } = this;
    let place = this.firstOf(name);
    while (place !== NONE && names[place] !== name) place = nexts[place] as number;
    if (place === NONE) this.add(name, value);
    else this.held[place] = value;
  }

  /** False: it was not there. */
  delete(name: string): boolean {
    const { names, nexts } = this;
    let place = this.firstOf(name);
    let before = NONE;
    while (place !== NONE && names[place] !== name) {
      before = place;
      place = nexts[place] as number;
    }
    if (place === NONE) return false;
    const next = nexts[place] as number;
    if (before === NONE) this.firsts[this.chainOf(name)] = next;
    else nexts[before] = next;
    names[place] = undefined;
    this.held[place] = undefined;
    nexts[place] = this.free;
    this.free = place;
    this.count -= 1;
    return true;
  }

  /** In no particular order. */
  *values(): IterableIterator<V> {
    for (let place = 0; place < this.names.length; place++) {
      if (this.names[place] !== undefined) yield this.held[place] as V;
    }
  }

  private chainOf(name: string): number {
    return numberIn(name) & (this.firsts.length - 1);
  }

  private firstOf(name: string): number {
    return this.firsts[this.chainOf(name)] as number;
  }

  private add(name: string, value: V): void {
    let place = this.free;
    if (place === NONE) {
      place = this.names.length;
      if (place === this.nexts.length) this.grow();
    } else this.free = this.nexts[place] as number;
    this.names[place] = name;
    this.held[place] = value;
    this.link(name, place);
    this.count += 1;
  }

  private link(name: string, place: number): void {
    const chain = this.chainOf(name);
    this.nexts[place] = this.firsts[chain] as number;
    this.firsts[chain] = place;
  }

  /** Only when every place is taken. */
  private grow(): void {
    const room = 2 * this.nexts.length;
    this.firsts = new Int32Array(room).fill(NONE);
    this.nexts = new Int32Array(room);
    for (const [place, name] of this.names.entries()) this.link(name as string, place);
  }
}
