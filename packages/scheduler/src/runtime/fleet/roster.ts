/** Hot path: a set of node numbers from which one can be drawn by chance without looking at the others. */

export interface Roster {
  /** The first `count` are the members, in no order. */
  list: Int32Array;
  count: number;
  /** Where each member is; absent for sets that change seldom, which search instead. */
  places: Int32Array | undefined;
}

export const createRoster = (places?: Int32Array): Roster => ({ list: new Int32Array(8), count: 0, places });

/** The caller knows that it is not a member, and has made `places` long enough. */
export function enlist(roster: Roster, index: number): void {
  if (roster.count === roster.list.length) {
    const list = new Int32Array(roster.count * 2);
    list.set(roster.list);
    roster.list = list;
  }
  if (roster.places !== undefined) roster.places[index] = roster.count;
  roster.list[roster.count++] = index;
}

/** The caller knows that it is a member. */
export function delist(roster: Roster, index: number): void {
  const { list, places } = roster;
  const place = places === undefined ? list.indexOf(index) : (places[index] as number);
  const last = list[--roster.count] as number;
  list[place] = last;
  if (places !== undefined) places[last] = place;
}
