/** The messages on /ws/session, per direction. */
import type { Static } from 'typebox';
import { ErrorMessage } from '../shared/error-message.ts';
import { AudioChunk, Backpressure, Utterance, UtteranceAccepted } from './audio.ts';
import {
  ClientHeartbeat,
  ServerDraining,
  ServerHeartbeat,
  SessionClose,
  SessionCloseAck,
  SessionInit,
  SessionInitAck,
} from './opening.ts';
import {
  MissingResult,
  SessionAsrPartial,
  TranslationPartial,
  TranslationResult,
  UiEvent,
  VoiceResult,
} from './outcomes.ts';
import { ResultAck, TtsPlayEnded, TtsStarted } from './playback.ts';
import { RoomCaption, RoomNotice, RoomVoice } from './room-captions.ts';
import { RoomActivity, RoomDelta, RoomModerate, RoomState, RoomUpdate } from './room-members.ts';
import {
  RoomCreate,
  RoomCreateAck,
  RoomError,
  RoomExpired,
  RoomJoin,
  RoomLeave,
  RoomMembers,
  RoomRawVoicePreference,
  WebrtcAnswer,
  WebrtcIce,
  WebrtcOffer,
} from './rooms.ts';

export const SESSION_TO_SCHEDULER = [
  SessionInit,
  AudioChunk,
  Utterance,
  ClientHeartbeat,
  TtsStarted,
  TtsPlayEnded,
  SessionClose,
  ResultAck,
  RoomCreate,
  RoomJoin,
  RoomLeave,
  RoomRawVoicePreference,
  RoomUpdate,
  RoomModerate,
  WebrtcOffer,
  WebrtcAnswer,
  WebrtcIce,
] as const;
export type SessionToScheduler = Static<(typeof SESSION_TO_SCHEDULER)[number]>;

export const SCHEDULER_TO_SESSION = [
  SessionInitAck,
  SessionAsrPartial,
  TranslationPartial,
  TranslationResult,
  VoiceResult,
  MissingResult,
  UiEvent,
  Backpressure,
  ServerHeartbeat,
  SessionCloseAck,
  ErrorMessage,
  UtteranceAccepted,
  ServerDraining,
  RoomCreateAck,
  RoomMembers,
  RoomError,
  RoomExpired,
  RoomState,
  RoomDelta,
  RoomCaption,
  RoomVoice,
  RoomActivity,
  RoomNotice,
  WebrtcOffer,
  WebrtcAnswer,
  WebrtcIce,
] as const;
export type SchedulerToSession = Static<(typeof SCHEDULER_TO_SESSION)[number]>;
