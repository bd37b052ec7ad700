/** Mutants that are detected only by members of rooms. */
import type { Mutant, World } from '../mutant.ts';

/** Two rooms of each tenant, and nodes for all of their languages. */
const ROOMS: World = {
  faults: ['client_cut'],
  scenario: {
    nodes: 4,
    stageNodes: 14,
    speakers: 0,
    dispatchers: 2,
    callers: 2,
    lecturers: 0,
    rooms: 2,
    perSecond: 10,
  },
  jobs: 150,
};
const WITH_DEATHS: World = { ...ROOMS, faults: ['instance_killed'] };

export const ROOM_MUTANTS: readonly Mutant[] = [
  {
    name: 'shows captions of a room as they are ready',
    breaks: ['R1 one rendition'],
    file: 'session/rooms/room-router.ts',
    find: "if (now.kind === 'open') break;",
    replace: "if (now.kind === 'open') { order.passed.set(order.next, 'silent'); continue; }",
    world: ROOMS,
  },
  {
    name: 'shows a late caption as the last one',
    breaks: ['R1 one rendition'],
    file: 'session/rooms/room-router.ts',
    find: 'caption: { ...captionOf(accept, text, language, {}), isFinal: false } };',
    replace: 'caption: captionOf(accept, text, language, {}) };',
    world: ROOMS,
  },
  {
    name: 'waits with a caption for all languages of its utterance',
    breaks: ['R2 independence'],
    file: 'session/rooms/room-router.ts',
    find: "if (outcome?.kind === 'final')",
    replace: "if (outcome?.kind === 'final' && outcomes.size === text.promised.length)",
    world: ROOMS,
  },
  {
    name: 'translates for members that have left',
    breaks: ['R3 demand'],
    file: 'session/rooms/room-steps.ts',
    find: '? without(room, new Set([memberId]))',
    replace: '? room',
    world: ROOMS,
  },
  {
    name: 'translates into the language that was spoken',
    breaks: ['R4 own language'],
    file: 'runtime/stages/chain-request.ts',
    find: 'targetLanguage: chain.target,',
    replace: 'targetLanguage: text?.language ?? chain.target,',
    world: ROOMS,
  },
  {
    name: 'leaves the utterances of a dead driver',
    breaks: ['R5 log survives'],
    file: 'session/rooms/followed-room.ts',
    find: 'utterance.driver === follower &&',
    replace: 'false &&',
    world: WITH_DEATHS,
  },
  {
    name: 'numbers utterances as lost ones after a failover',
    breaks: ['R5 log survives'],
    file: 'session/rooms/restore-room.ts',
    find: 'stores.log.open(roomId, { last: ends.last + LEFT_OUT, seq: ends.seq + LEFT_OUT });',
    replace: 'stores.log.open(roomId);',
    world: { ...ROOMS, faults: ['shard_failed_over'] },
  },
  {
    name: 'encodes the captions of all rooms as one',
    breaks: ['R6 rooms apart'],
    file: 'transport/ws/rooms/session-rooms.ts',
    find: `return (output) => {
    const text = encoded.get(output) ?? JSON.stringify(toRoomMessage(output));`,
    replace: `const texts = new Map<string, string>();
  return (output) => {
    const { seq, language, isFinal } = output.kind === 'caption' ? output.caption : {};
    const key = seq === undefined ? '' : [seq, language, isFinal].join();
    const text = texts.get(key) ?? JSON.stringify(toRoomMessage(output));
    if (key !== '') texts.set(key, text);`,
    world: ROOMS,
  },
];
