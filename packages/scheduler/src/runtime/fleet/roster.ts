/** Hot path: a set of node numbers that supports a random draw without iteration. */

export interface Roster {
  /** The first `count` entries are the members, unordered. */
  list: Int32Array;
  count: number;
  /** The position of each member; absent for sets that change rarely, which search instead. */
  places: Int32Array | undefined;
}

export const createRoster = (places?: Int32Array): Roster => ({ list: new Int32Array(8), count: 0, places });

/** The number must not be a member, and `places` must be long enough. */
export function enlist(roster: Roster, index: number): void {
  if (roster.count === roster.list.length) {
    const list = new Int32Array(roster.count * 2);
    list.set(roster.list);
    roster.list = list;
  }
  if (roster.places !== undefined) roster.places[index] = roster.count;
  roster.list[roster.count++] = index;
}

/** The number must be a member. */
export function delist(roster: Roster, index: number): void {
  const { list, places } = roster;
  const place = places === undefined ? list.indexOf(index) : (places[index] as number);
  const last = list[--roster.count] as number;
  list[place] = last;
  if (places !== undefined) places[last] = place;
}
