/** Room mode is not built yet: the session socket answers its messages with this error. Pure. */

export const isRoomMessage = (type: string): boolean =>
  type.startsWith('room_') || type.startsWith('webrtc_');

export const ROOMS_UNSUPPORTED = {
  code: 'UNSUPPORTED_FEATURE',
  message: 'rooms and WebRTC are not served by this scheduler yet',
} as const;
