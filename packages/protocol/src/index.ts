/** The public API of the protocol: schemas with their types, parsers, published JSON Schema and documentation. */
export { ERROR_CODES, type ErrorCode, isErrorCode } from './error-codes.ts';
export { CheckQuery, CheckReply } from './http/check.ts';
export {
  ClusterInstance,
  ClusterNode,
  ClusterReply,
  ClusterStore,
  DeadLetterPath,
  DeadLetterQuery,
  DeadLetterReplay,
  DeadLetterReplayReply,
  DeadLetterSummary,
  DeadLettersPurge,
  DeadLettersPurgeReply,
  DeadLettersQuery,
  DeadLettersReply,
  DeadLetterView,
  OrphanedLetters,
} from './http/cluster.ts';
export { DispatchOptions, DispatchReply, DispatchRequest } from './http/dispatch.ts';
export { HTTP_ENDPOINTS, HTTP_TAGS, type HttpEndpoint } from './http/endpoints.ts';
export { ErrorReply, RejectionCount } from './http/error-reply.ts';
export {
  ExplainedNode,
  ExplainedPlan,
  ExplainedReason,
  ExplainedRequirements,
  ExplainReply,
  ExplainRequest,
  OfferedLanguage,
  OfferedLanguages,
  OfferedLanguagesQuery,
  PoolAttempt,
  PoolsReply,
  PoolView,
  SimulateQuery,
  SimulateReply,
} from './http/explain.ts';
export {
  GlossariesReply,
  GlossaryBody,
  GlossaryPath,
  GlossaryQuery,
  GlossaryRemoved,
  GlossaryStored,
  GlossaryView,
} from './http/glossaries.ts';
export { HealthCheck, HealthReply } from './http/health.ts';
export {
  EraseReply,
  JOB_OUTCOMES,
  JOB_STATES,
  JobAckReport,
  JobCancelReply,
  JobCancelRequest,
  JobDoneReport,
  JobFailReport,
  JobOutcome,
  JobPartialReport,
  JobReportReply,
  JobState,
  JobStep,
  JobView,
} from './http/job.ts';
export {
  ATTENTION_PAGES,
  Attention,
  FiguresPoint,
  HistoryQuery,
  HistoryReply,
  JOB_STAGES,
  LIVE_NODE_COLUMNS,
  LiveDelta,
  LiveInstance,
  LiveQuery,
  LiveSnapshot,
  StageTimes,
} from './http/live.ts';
export { MetricsReply, StageFigures } from './http/metrics.ts';
export {
  HttpNodeHeartbeat,
  HttpNodeHeartbeatReply,
  HttpNodeRegister,
  HttpNodeRegisterReply,
  NodeJobsReply,
  NodeRemovalReply,
} from './http/node.ts';
export {
  JobSummary,
  JobsQuery,
  JobsReply,
  NodeAttempt,
  NodeDetail,
  NodeLanguages,
  NodeMark,
  NodeOrder,
  NodeOrderReply,
  NodeService,
  NodesQuery,
  NodesReply,
  NodeView,
  SessionOrder,
  SessionOrderReply,
  SessionPath,
  SessionsQuery,
  SessionsReply,
  SessionView,
} from './http/operators.ts';
export {
  AudioPath,
  FetchQuery,
  JobPath,
  LARGEST_PAGE,
  LONGEST_WAIT_MS,
  NodePath,
  TokenQuery,
  WaitQuery,
} from './http/path.ts';
export { PoolReloadReply, ReloadReply } from './http/pool-reload.ts';
export { ROLE_NAMES, ROLES, type Role, rolesIn, speechFields } from './http/roles.ts';
export {
  CaptionsQuery,
  CaptionView,
  LARGEST_TRANSCRIPT_PAGE,
  TranscriptQuery,
  TranscriptReply,
} from './http/rooms/captions.ts';
export {
  RoomChange,
  RoomDraft,
  RoomEnded,
  RoomErased,
  RoomList,
  RoomMemberPath,
  RoomPath,
  RoomQuery,
  RoomSummary,
  RoomToken,
  RoomTokenMint,
  RoomView,
} from './http/rooms/rooms.ts';
export {
  CatalogueArtifact,
  CatalogueService,
  LanguageUsage,
  MOST_USAGE_ROWS,
  NodePowerDetail,
  StatsReply,
  USAGE_GROUPS,
  UsageQuery,
  UsageReply,
  UsageRow,
} from './http/stats.ts';
export {
  DEFAULT_TOKEN_SECONDS,
  LONGEST_TOKEN_SECONDS,
  TokenClaims,
  TokenMint,
  TokenMintReply,
  WhoamiReply,
} from './http/tokens.ts';
export {
  DEFAULT_WAIT_MS,
  TranslatePending,
  TranslateQuery,
  TranslateReply,
  TranslateRequest,
} from './http/translate.ts';
export {
  ClientReport,
  ConfigReply,
  FoundNode,
  FoundSession,
  JobDetail,
  JobSpan,
  LanguageCell,
  LanguagesReply,
  REPORT_KINDS,
  ReportReply,
  ReportRequest,
  ScalingQuery,
  ScalingReply,
  SearchQuery,
  SearchReply,
  SessionDetail,
  SessionLogEntry,
  SessionUtterance,
  TakeoverLine,
  TakeoversReply,
  TenantLine,
  TenantsReply,
} from './http/watch.ts';
export { DIRECTIONS, type Direction, jsonSchemas } from './json-schemas.ts';
export { nearest } from './nearest.ts';
export { JobCancel, NodeControl, NodeRegisterAck, NodeStatus } from './node/control.ts';
export { JobAssign } from './node/job-assign.ts';
export {
  JobAck,
  JobResult,
  JobStarted,
  JobText,
  ModelNotAvailableDetails,
  NodeAsrPartial,
  NodeOverloadedDetails,
} from './node/job-reports.ts';
export {
  NODE_TO_SCHEDULER,
  type NodeToScheduler,
  SCHEDULER_TO_NODE,
  type SchedulerToNode,
} from './node/messages.ts';
export { NodeError, NodeHeartbeat, NodeRegister } from './node/registration.ts';
export {
  type ParsedMessage,
  type ParseMessage,
  parseNodeMessage,
  parseSchedulerToNode,
  parseSchedulerToSession,
  parseSessionMessage,
} from './parse.ts';
export { MAX_FIELDS, MAX_NESTING, MAX_VALUES, type ParsedJson, parseJson } from './parse-json.ts';
export { printJsonSchema } from './print-json-schema.ts';
export { printProtocol } from './print-protocol.ts';
export { printPythonMessages, printPythonSchemas } from './print-python.ts';
export type { Problem } from './problem.ts';
export { type JsonSchema, publishSchema } from './publish-schema.ts';
export { queryValidator } from './query.ts';
export { AudioChunk, Backpressure, Utterance, UtteranceAccepted } from './session/audio.ts';
export {
  SCHEDULER_TO_SESSION,
  type SchedulerToSession,
  SESSION_TO_SCHEDULER,
  type SessionToScheduler,
} from './session/messages.ts';
export {
  ClientHeartbeat,
  ClientStats,
  MAX_TARGETS,
  ServerDraining,
  ServerHeartbeat,
  SessionClose,
  SessionCloseAck,
  SessionInit,
  SessionInitAck,
} from './session/opening.ts';
export {
  MissingResult,
  SessionAsrPartial,
  TranslationPartial,
  TranslationResult,
  UI_EVENTS,
  UiEvent,
  VoiceResult,
} from './session/outcomes.ts';
export { ResultAck, TtsPlayEnded, TtsStarted } from './session/playback.ts';
export { RoomCaption, RoomNotice, RoomVoice } from './session/room-captions.ts';
export {
  RoomActivity,
  RoomDelta,
  RoomMember,
  RoomModerate,
  RoomState,
  RoomUpdate,
} from './session/room-members.ts';
export {
  Hears,
  MAX_ROOM_LANGUAGES,
  Participant,
  ROOM_ROLES,
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
} from './session/rooms.ts';
export { AudioFormat, AudioRef } from './shared/audio.ts';
export { ID_PATTERN } from './shared/bounded.ts';
export { CapabilityByType, CapabilityState, type ServiceState, TypeCapability } from './shared/capability.ts';
export { ErrorMessage } from './shared/error-message.ts';
export { Extra } from './shared/extra.ts';
export { FeatureFlags } from './shared/feature-flags.ts';
export { GlossaryTerm, JobGlossary, MOST_TERMS, MOST_TERMS_OF_PAIR } from './shared/glossary.ts';
export { Hardware } from './shared/hardware.ts';
export { InstalledModel } from './shared/installed-model.ts';
export { InstalledService, SERVICE_TYPES, ServiceType } from './shared/installed-service.ts';
export { LanguageCapabilities, LanguagePair, NmtCapability } from './shared/language-capabilities.ts';
export type { MessageSchema } from './shared/message.ts';
export { AsrMetrics, ProcessingMetrics, RerunMetrics } from './shared/node-metrics.ts';
export { NODE_STATUSES, NodeHealth, type NodeStatusName } from './shared/node-status.ts';
export { Pipeline } from './shared/pipeline.ts';
export { QuotaUse } from './shared/quota.ts';
export { ResourceUsage } from './shared/resource-usage.ts';
export { JobError, SegmentsMeta } from './shared/result-fields.ts';
export { NetworkTimings, ServiceTimings } from './shared/timings.ts';
export { type Validate, type Validated, validator } from './validator.ts';
export {
  EndedRoom,
  JobEnded,
  NodeLost,
  OPERATOR_WEBHOOKS,
  QuotaReached,
  TENANT_WEBHOOKS,
  WEBHOOK_EVENTS,
  WebhookEvent,
} from './webhooks.ts';
