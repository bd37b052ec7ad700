/** Every error code that the scheduler sends, on sockets and over HTTP; the scheduler's error table explains each. */

export const ERROR_CODES = [
  'INVALID_MESSAGE',
  'INTERNAL_ERROR',
  'INVALID_SESSION',
  'SESSION_CLOSED',
  'NODE_UNAVAILABLE',
  'NODE_OVERLOADED',
  'MODEL_NOT_AVAILABLE',
  'MODEL_LOAD_FAILED',
  'UNSUPPORTED_FEATURE',
  'INVALID_PAIRING_CODE',
  'NO_AVAILABLE_NODE',
  'WS_DISCONNECTED',
  'NMT_TIMEOUT',
  'TTS_TIMEOUT',
  'JOB_TIMEOUT',
  'MODEL_VERIFY_FAILED',
  'MODEL_CORRUPTED',
  'NO_GPU_AVAILABLE',
  'NODE_ID_CONFLICT',
  'INVALID_CAPABILITY_SCHEMA',
  'SCHEDULER_DEPENDENCY_DOWN',
  'RESULT_TIMEOUT',
  'NO_CAPABLE_NODE',
  'PREFERRED_NODE_NOT_CAPABLE',
  'ALL_CANDIDATES_FULL_OR_FAILED',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'PAYLOAD_TOO_LARGE',
  'IDEMPOTENCY_CONFLICT',
  'NO_RESULT',
  'AUDIO_LOST',
  'ACK_TIMEOUT',
  'NOT_FOUND',
  'JOB_CANCELLED',
  'PROCESSING_ERROR',
  'INVALID_CONFIG',
  'QUOTA_EXCEEDED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

const KNOWN: ReadonlySet<string> = new Set(ERROR_CODES);

/** Nodes send codes of their own, so a received code must be checked first. */
export const isErrorCode = (code: string): code is ErrorCode => KNOWN.has(code);
