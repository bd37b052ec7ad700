/** Hot path: groups of utterances. An utterance that begins soon after its predecessor was played joins its group. Pure. */

export interface GroupSettings {
  readonly windowMs: number;
  readonly maxParts: number;
  /** In code points, so that a surrogate pair is not split. */
  readonly maxChars: number;
}

export interface Group {
  readonly groupId: string;
  readonly parts: number;
  /** The end of the recognised text of its parts. */
  readonly context: string;
  readonly playedAt: number | undefined;
}

/** Newest last. */
export type Groups = readonly Group[];

export const NO_GROUPS: Groups = [];

/** Results are played one after the other, so the playback end of an older group may still be reported. */
const MAX_GROUPS = 4;

export interface Joined {
  readonly groups: Groups;
  readonly groupId: string;
  readonly partIndex: number;
  /** Absent for the first part. */
  readonly context: string | undefined;
}

/** The group of an utterance that began at `startedAt`; `newId` is the id of a new group. */
export function joinGroup(
  groups: Groups,
  startedAt: number,
  settings: GroupSettings,
  newId: () => string,
): Joined {
  const last = groups.findLast(({ playedAt, parts }) => {
    const sinceMs = playedAt === undefined ? -1 : startedAt - playedAt;
    return sinceMs >= 0 && sinceMs <= settings.windowMs && parts < settings.maxParts;
  });
  if (last === undefined) {
    const group = { groupId: newId(), parts: 1, context: '', playedAt: undefined };
    return { groups: newest(groups, group), groupId: group.groupId, partIndex: 0, context: undefined };
  }
  const grown = { ...last, parts: last.parts + 1 };
  return {
    groups: newest(groups, grown),
    groupId: last.groupId,
    partIndex: last.parts,
    context: last.context === '' ? undefined : last.context,
  };
}

export const notePlayed = (groups: Groups, groupId: string, at: number): Groups =>
  change(groups, groupId, (group) => ({ ...group, playedAt: at }));

export const noteText = (groups: Groups, groupId: string, text: string, settings: GroupSettings): Groups =>
  change(groups, groupId, (group) => ({
    ...group,
    context: lastCodePoints([group.context, text].filter((part) => part !== '').join(' '), settings.maxChars),
  }));

/** The end of a text; never half of a surrogate pair. */
export function lastCodePoints(text: string, max: number): string {
  if (text.length <= max) return text;
  const points = Array.from(text);
  return points.length <= max ? text : points.slice(points.length - max).join('');
}

const newest = (groups: Groups, group: Group): Groups =>
  [...groups.filter(({ groupId }) => groupId !== group.groupId), group].slice(-MAX_GROUPS);

function change(groups: Groups, groupId: string, to: (group: Group) => Group): Groups {
  return groups.some((group) => group.groupId === groupId)
    ? groups.map((group) => (group.groupId === groupId ? to(group) : group))
    : groups;
}
