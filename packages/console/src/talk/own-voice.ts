/** How loud people with headphones hear their own voice. Pure. */

/** Of the own voice while a translation plays. */
const DUCKED = 0.15;
/** iOS gives the microphone's sound a loudness of its own: there it is muted. */
export function ownVoiceGain(state: {
  readonly isWanted: boolean;
  readonly isPlaying: boolean;
  readonly isIos: boolean;
}): number {
  if (!state.isWanted) return 0;
  if (!state.isPlaying) return 1;
  return state.isIos ? 0 : DUCKED;
}

/** iPads call themselves Macs, which have no touch screens. */
export const isIos = (device: { readonly userAgent: string; readonly maxTouchPoints: number }): boolean =>
  /iPhone|iPad|iPod/.test(device.userAgent) ||
  (device.userAgent.includes('Macintosh') && device.maxTouchPoints > 1);
