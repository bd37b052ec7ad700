/** Room mode, until it is built: what its messages are answered with. Pure. */

const ROOM_TYPE = /^(room|webrtc)_/;

export const isRoomMessage = (type: string): boolean => ROOM_TYPE.test(type);

export const ROOMS_UNSUPPORTED = {
  code: 'UNSUPPORTED_FEATURE',
  message: 'rooms and WebRTC are not served by this scheduler yet',
} as const;
