/** Texts of the rooms. They are loaded with the pages that show them. */
import { enRooms } from '../texts/en-rooms.ts';
import { textsIn } from '../texts/text.ts';
import { zhRooms } from '../texts/zh-rooms.ts';

export const { t: tRoom, tOr: tRoomOr } = textsIn({ en: enRooms, zh: zhRooms });
