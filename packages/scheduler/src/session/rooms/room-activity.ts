/** Hot path: who speaks now in one room. Instances exchange it by hints, which may be lost: what is not repeated is forgotten. */
import type { MemberId, RoomRecord } from '../../domain/room.ts';
import type { Cancel } from '../../ports/clock.ts';
import type { ActivityHint, RoomDeps } from './room-deps.ts';

/** Between two messages to the members. */
const SHOW_MS = 500;
/** While a member speaks. */
const REPEAT_MS = 2_000;
const FORGET_MS = 5_000;

export interface RoomActivity {
  /** A member of this instance. */
  note(memberId: MemberId, isSpeaking: boolean): void;
  receive(hint: ActivityHint): void;
  stop(): void;
}

export function createRoomActivity(
  deps: Pick<RoomDeps, 'clock' | 'hint' | 'self'> & {
    readonly room: () => RoomRecord;
    readonly show: (speaking: readonly MemberId[]) => void;
  },
): RoomActivity {
  const { clock, show } = deps;
  const here = new Set<MemberId>();
  const elsewhere = new Map<string, { readonly speaking: readonly MemberId[]; readonly until: number }>();
  let shown = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  let sentAt = Number.NEGATIVE_INFINITY;
  let isSent = true;
  let timer: Cancel | undefined;
  let isStopped = false;

  function wakeIn(ms: number): void {
    timer?.();
    timer = isStopped ? undefined : clock.after(ms, update);
  }

  const soon = (): void => wakeIn(Math.max(0, shownAt + SHOW_MS - clock.now()));

  function update(): void {
    timer = undefined;
    const now = clock.now();
    const { members, audiences } = deps.room();
    const present = new Set(members.map(({ memberId }) => memberId));
    for (const memberId of here) if (!present.has(memberId)) here.delete(memberId);
    for (const [follower, { until }] of elsewhere) if (until <= now) elsewhere.delete(follower);
    const speaking = [...here, ...[...elsewhere.values()].flatMap((of) => of.speaking)]
      .filter((memberId) => present.has(memberId))
      .sort();
    const all = speaking.join(' ');
    if (all !== shown) {
      shown = all;
      shownAt = now;
      show(speaking);
    }
    if (!isSent || (here.size > 0 && now - sentAt >= REPEAT_MS)) {
      const followers = new Set([...members.map(({ follower }) => follower), ...Object.keys(audiences)]);
      followers.delete(deps.self());
      const { roomId } = deps.room();
      for (const follower of followers)
        deps.hint(follower, { roomId, follower: deps.self(), speaking: [...here] });
      isSent = true;
      sentAt = now;
    }
    if (here.size + elsewhere.size > 0) wakeIn(SHOW_MS);
  }

  return {
    note(memberId, isSpeaking) {
      const before = here.size;
      if (isSpeaking) here.add(memberId);
      else here.delete(memberId);
      if (here.size === before) return;
      isSent = false;
      soon();
    },
    receive({ follower, speaking }) {
      elsewhere.set(follower, { speaking, until: clock.now() + FORGET_MS });
      if (speaking.length === 0) elsewhere.delete(follower);
      soon();
    },
    stop() {
      isStopped = true;
      timer?.();
    },
  };
}
