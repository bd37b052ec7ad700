/** One room that the session is in: its people, its wishes, and the events of its messages. */
import { asCount, asText, type ServerFrame } from '../read-frame.ts';
import type { Outgoing } from '../session-messages.ts';
import { createCaptionMemory } from './caption-memory.ts';
import { createOriginals, isIos } from './originals.ts';
import type {
  JoinOptions,
  Person,
  Room,
  RoomEventName,
  RoomEvents,
  RoomListener,
  SignalKind,
} from './room.ts';
import { captionIn, entering, hears, peopleIn, textsIn, voiceIn } from './room-messages.ts';

type Moderation = Omit<Extract<Outgoing, { type: 'room_moderate' }>, 'type' | 'room_code'>;

export interface JoinedRoom {
  readonly room: Room;
  receive(frame: ServerFrame): void;
  /** The message that enters the room again after a reconnect. */
  returning(): Outgoing;
  fail(code: string, message: string): void;
  end(reason: string, message: string): void;
}

export function createJoinedRoom(deps: {
  readonly code: string;
  readonly wishes: JoinOptions;
  readonly send: (message: Outgoing) => boolean;
  readonly onListenerError: (error: unknown) => void;
  readonly onEnded: () => void;
}): JoinedRoom {
  const { code, send } = deps;
  const memory = createCaptionMemory();
  const originals = createOriginals(isIos());
  const listeners = new Map<RoomEventName, Set<(event: never) => void>>();
  const people = new Map<string, Person>();
  let wishes = deps.wishes;
  let isMuted: boolean | undefined;
  let facts: ServerFrame = { type: '' };
  let me: string | undefined;
  let hasEnded = false;

  function emit<Name extends RoomEventName>(name: Name, event: RoomEvents[Name]): void {
    for (const listener of [...(listeners.get(name) ?? [])]) {
      try {
        (listener as RoomListener<Name>)(event);
      } catch (error) {
        deps.onListenerError(error);
      }
    }
  }

  /** What is not sent now is sent when the room is entered again. */
  function update(change: Omit<Extract<Outgoing, { type: 'room_update' }>, 'type' | 'room_code'>): void {
    send({ type: 'room_update', room_code: code, ...change });
  }

  const moderate = (order: Moderation): void =>
    void send({ type: 'room_moderate', room_code: code, ...order });

  function change(frame: ServerFrame): void {
    facts = { ...facts, ...frame };
    if (frame.type === 'room_state') {
      people.clear();
      me = asText(frame.session_id);
    }
    for (const id of textsIn(frame.left)) people.delete(id);
    for (const person of peopleIn(frame.members, me)) people.set(person.id, person);
    if (frame.type === 'room_state' && isMuted !== undefined) update({ muted: isMuted });
    emit('changed', {});
  }

  function end(reason: string, message: string): void {
    if (hasEnded) return;
    hasEnded = true;
    deps.onEnded();
    emit('ended', { reason, message });
  }

  function receive(frame: ServerFrame): void {
    if (frame.room_code !== code) return;
    switch (frame.type) {
      case 'room_state':
      case 'room_delta':
        change(frame);
        break;
      case 'room_caption': {
        const caption = captionIn(frame);
        if (caption !== undefined && memory.note(caption.language, caption.seq, caption.isFinal))
          emit('caption', caption);
        break;
      }
      case 'room_voice':
        emit('voice', voiceIn(frame));
        break;
      case 'room_activity':
        emit('speaking', { ids: textsIn(frame.speaking) });
        break;
      case 'room_notice': {
        const [from, to] = [asCount(frame.from), asCount(frame.to)];
        if (frame.code === 'missed' && to !== undefined) memory.missed(to);
        emit('notice', { code: asText(frame.code) ?? '', language: asText(frame.lang), from, to });
        if (frame.code === 'removed') end('removed', 'a host has removed you');
        break;
      }
      case 'room_expired':
        end('ended', asText(frame.message) ?? '');
        break;
      case 'webrtc_offer':
      case 'webrtc_answer':
      case 'webrtc_ice':
        emit('signal', {
          from: asText(frame.to) ?? '',
          kind: frame.type.slice('webrtc_'.length) as SignalKind,
          body: frame.sdp ?? frame.candidate,
        });
    }
  }

  if (wishes.hears?.original !== undefined) originals.wish(wishes.hears.original);

  const room: Room = {
    code,
    get id() {
      return asText(facts.room_id);
    },
    get title() {
      return asText(facts.title);
    },
    get isRecorded() {
      return facts.recorded === true;
    },
    get isLocked() {
      return facts.locked === true;
    },
    get people() {
      return [...people.values()];
    },
    get listeners() {
      return asCount(facts.listeners) ?? 0;
    },
    get languages() {
      return { ...(facts.languages as Record<string, string> | undefined) };
    },
    hear(wish) {
      wishes = { ...wishes, hears: wish };
      originals.wish(wish.original ?? 'duck');
      update({ hears: hears(wish) });
    },
    speak(language) {
      wishes = { ...wishes, speaks: language };
      update({ speaks: language });
    },
    mute(isNow = true) {
      isMuted = isNow;
      update({ muted: isNow });
    },
    moderate: {
      mute: (member) => moderate({ action: 'mute', member }),
      unmute: (member) => moderate({ action: 'unmute', member }),
      remove: (member) => moderate({ action: 'remove', member }),
      setRole: (member, role) => moderate({ action: 'role', member, role }),
      lock: (isLocked = true) => moderate({ action: isLocked ? 'lock' : 'unlock' }),
      setLanguages: (languages) => moderate({ action: 'languages', languages: [...languages] }),
      end: () => moderate({ action: 'end' }),
    },
    addOriginal: originals.add,
    playing: originals.playing,
    signal(to, kind, body) {
      if (kind === 'ice') send({ type: 'webrtc_ice', room_code: code, to, candidate: body });
      else send({ type: `webrtc_${kind}`, room_code: code, to, sdp: body });
    },
    leave() {
      if (hasEnded) return;
      send({ type: 'room_leave', room_code: code });
      end('left', '');
    },
    on(name, listener) {
      const added = (event: RoomEvents[typeof name]): void => listener(event);
      listeners.set(name, (listeners.get(name) ?? new Set()).add(added));
      return () => void listeners.get(name)?.delete(added);
    },
  };

  return {
    room,
    receive,
    returning: () => ({
      type: 'room_join',
      room_code: code,
      ...entering(wishes),
      role: wishes.role,
      channel: wishes.channel,
      after_seq: memory.afterSeq(),
    }),
    fail: (failed, message) => emit('error', { code: failed, message }),
    end,
  };
}
