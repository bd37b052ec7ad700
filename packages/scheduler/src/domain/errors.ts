/** The one error table: code → HTTP status, and a hint for the caller. Printed to docs/errors.md. */

export interface ErrorEntry {
  readonly status: number;
  /** What the caller or operator can do about it. */
  readonly hint: string;
  /** The same request may succeed later. */
  readonly isTransient?: true;
  /** The socket is closed after this error has been sent. */
  readonly closesSocket?: true;
}

export const ERRORS = {
  INVALID_MESSAGE: {
    status: 400,
    hint: 'Correct what the message names; docs/protocol.md lists every field.',
  },
  INTERNAL_ERROR: {
    status: 500,
    hint: 'A fault of the scheduler: report it with the trace_id.',
    isTransient: true,
  },
  UNAUTHORIZED: {
    status: 401,
    hint: 'Send "Authorization: Bearer <token>" (sockets: ?token=) with a token from server.tokens.',
    closesSocket: true,
  },
  FORBIDDEN: {
    status: 403,
    hint: 'This credential may not do that; use one of the right role, tenant or node_id.',
  },
  INVALID_CONFIG: {
    status: 409,
    hint: 'Correct the configuration file as the message says and reload again; the previous settings stay in force.',
  },
  NOT_FOUND: {
    status: 404,
    hint: 'There is nothing under that name, or not for this credential. Finished jobs are kept for job_retention_ms; nodes that stay offline are removed. A job that was accepted right before a Redis failover may be lost together with its driver: send the request again with its request_id.',
  },
  RATE_LIMITED: {
    status: 429,
    hint: 'Slow down and try again, after retry_after_ms if it is given.',
    isTransient: true,
  },
  QUOTA_EXCEEDED: {
    status: 429,
    hint: 'The tenant has used up what it may use in this day or month: wait for retry_after_ms, or raise its quota (scheduler.quotas).',
    isTransient: true,
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    hint: 'Send smaller messages; server.limits.max_message_bytes is the limit, for nodes max_node_message_bytes.',
    closesSocket: true,
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    hint: 'This request_id was used with another body; use a new one for new work.',
  },
  INVALID_SESSION: { status: 404, hint: 'Open a session with session_init first.' },
  SESSION_CLOSED: { status: 410, hint: 'The session has ended; open a new one.' },
  UNSUPPORTED_FEATURE: { status: 501, hint: 'This scheduler does not have that feature yet.' },
  INVALID_PAIRING_CODE: { status: 400, hint: 'Pairing codes are not issued; omit pairing_code.' },
  NO_CAPABLE_NODE: {
    status: 503,
    hint: 'No registered node has these languages and services; register a node that has, or ask for others.',
  },
  PREFERRED_NODE_NOT_CAPABLE: {
    status: 409,
    hint: 'Name another preferred_node_id, or omit options.strict to allow other nodes.',
  },
  ALL_CANDIDATES_FULL_OR_FAILED: {
    status: 503,
    hint: 'Try again shortly, set wait_ms, or add capacity.',
    isTransient: true,
  },
  NO_AVAILABLE_NODE: {
    status: 503,
    hint: 'All capable nodes are busy; try again shortly.',
    isTransient: true,
  },
  NODE_UNAVAILABLE: {
    status: 503,
    hint: 'The node disconnected and no other node could take the job.',
    isTransient: true,
  },
  ACK_TIMEOUT: {
    status: 504,
    hint: 'The node did not acknowledge the job in time (ack_timeout_ms), and no other node could take it; look at the node.',
    isTransient: true,
  },
  NODE_OVERLOADED: {
    status: 503,
    hint: 'The node is full; the scheduler tries another.',
    isTransient: true,
  },
  MODEL_NOT_AVAILABLE: {
    status: 503,
    hint: 'The node lacks the model; the scheduler tries another.',
    isTransient: true,
  },
  MODEL_LOAD_FAILED: {
    status: 503,
    hint: 'The node could not load the model; look at its logs.',
    isTransient: true,
  },
  MODEL_VERIFY_FAILED: { status: 503, hint: 'Install the model on the node again.' },
  MODEL_CORRUPTED: { status: 503, hint: 'Install the model on the node again.' },
  PROCESSING_ERROR: { status: 502, hint: 'The node failed on this audio; look at its logs.' },
  WS_DISCONNECTED: { status: 503, hint: 'The connection to the node was lost.', isTransient: true },
  NMT_TIMEOUT: { status: 504, hint: 'Translation took too long; try again.', isTransient: true },
  TTS_TIMEOUT: { status: 504, hint: 'Speech synthesis took too long; try again.', isTransient: true },
  JOB_TIMEOUT: { status: 504, hint: 'No node answered in time; try again.', isTransient: true },
  RESULT_TIMEOUT: { status: 504, hint: 'An earlier result did not arrive in time and was skipped.' },
  NO_RESULT: {
    status: 502,
    hint: 'The node ended the job without a result. Deployed nodes do so when a text repeats the one before; otherwise look at the logs of the node.',
  },
  AUDIO_LOST: {
    status: 410,
    hint: 'The audio was lost together with the instance that stored it; send the request again.',
  },
  JOB_CANCELLED: { status: 409, hint: 'The job was cancelled.' },
  NO_GPU_AVAILABLE: {
    status: 400,
    hint: 'This scheduler accepts GPU nodes only (scheduler.node_health.require_gpu).',
    closesSocket: true,
  },
  NODE_ID_CONFLICT: {
    status: 409,
    hint: 'Another credential owns this node_id; omit node_id to get one.',
    closesSocket: true,
  },
  INVALID_CAPABILITY_SCHEMA: {
    status: 400,
    hint: 'capability_schema_version must be "1.0" or "2.0".',
    closesSocket: true,
  },
  SCHEDULER_DEPENDENCY_DOWN: {
    status: 503,
    hint: 'The scheduler cannot reach its store and refuses new jobs until it can.',
    isTransient: true,
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

export const errorEntry = (code: ErrorCode): ErrorEntry => ERRORS[code];

/** A fault: an unexpected failure. Expected outcomes are values with a `kind`. */
export class SchedulerError extends Error {
  readonly code: ErrorCode;
  /** The request was certainly not sent, so nothing happened. Otherwise it may have taken effect. */
  readonly isUnsent: boolean;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { readonly isUnsent?: boolean }) {
    super(message, options);
    this.name = 'SchedulerError';
    this.code = code;
    this.isUnsent = options?.isUnsent === true;
  }
}

export const isUnsent = (fault: unknown): boolean =>
  fault instanceof Error && 'isUnsent' in fault && fault.isUnsent === true;
