"""The messages between node and scheduler. Printed from packages/protocol by `npm run docs`; do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

#: The services that a node may report in its capabilities.
SERVICE_TYPES: Tuple[str, ...] = ("asr", "nmt", "tts", "tone", "semantic", "phonetic", "punctuation")


class HardwareGpus(TypedDict):
    #: Name of the GPU
    name: str
    #: GPU memory in GB
    memory_gb: float


class _HardwareRequired(TypedDict):
    #: Number of CPU cores
    cpu_cores: float
    #: Main memory in GB
    memory_gb: float


class Hardware(_HardwareRequired, total=False):
    """Hardware of the node."""

    #: GPUs; absent or empty on a CPU node
    gpus: List[HardwareGpus]


class _InstalledModelRequired(TypedDict):
    #: Name of the model
    model_id: str
    #: Task of the model
    kind: str
    #: Version of the model
    version: str


class InstalledModel(_InstalledModelRequired, total=False):
    """A model on the node."""

    #: Source language
    src_lang: str
    #: Target language
    tgt_lang: str
    #: Dialect
    dialect: str
    #: False if it is installed but disabled
    enabled: bool


class _InstalledServiceRequired(TypedDict):
    #: Name of the service
    service_id: str


class InstalledService(_InstalledServiceRequired, total=False):
    """A service on the node: `platform` (schema 1.0) or `type`, `device`, `status` (2.0)."""

    #: Version of the service
    version: str
    #: Platform it is built for (schema 1.0)
    platform: str
    #: Type of service; phonetic and punctuation are informational
    type: str
    #: Where it runs (schema 2.0)
    device: str
    #: Whether it runs (schema 2.0)
    status: str
    #: Model it serves
    model_id: str
    #: Inference engine
    engine: str
    #: Memory it takes, in MB
    mem_mb: float
    #: Time it takes to warm up
    warmup_ms: float
    #: Why it last failed
    last_error: str


class _TypeCapabilityRequired(TypedDict):
    #: Type of service; phonetic and punctuation are informational
    type: str
    #: Some implementation of this type is ready
    ready: bool


class TypeCapability(_TypeCapabilityRequired, total=False):
    """Readiness of one service type."""

    #: Why it is not ready
    reason: str
    #: Implementations that are ready
    ready_impl_ids: List[str]
    #: Devices that serve the type, as the node names them
    devices: Any


class LanguagePair(TypedDict):
    """A direction of translation."""

    #: Source language
    src: str
    #: Target language
    tgt: str


class _NmtCapabilityRequired(TypedDict):
    #: Translation model
    model_id: str
    #: Languages of the model
    languages: List[str]
    #: Which pairs of them it translates
    rule: str


class NmtCapability(_NmtCapabilityRequired, total=False):
    """Capabilities of one translation model."""

    #: Pairs that the rule allows but the model does not support
    blocked_pairs: List[LanguagePair]
    #: The pairs, for specific_pairs
    supported_pairs: List[LanguagePair]


class LanguageCapabilities(TypedDict, total=False):
    """Languages per stage."""

    #: Languages of speech recognition
    asr_languages: List[str]
    #: Languages of speech synthesis
    tts_languages: List[str]
    #: Languages of semantic repair
    semantic_languages: List[str]
    #: The core of semantic repair is running
    semantic_core_ready: bool
    #: Translation models
    nmt_capabilities: List[NmtCapability]
    #: Directions that the whole pipeline supports
    supported_language_pairs: List[LanguagePair]


class FeatureFlags(TypedDict, total=False):
    """Optional analyses."""

    #: Recognise the emotion of the speaker
    emotion_detection: bool
    #: Recognise the style of the voice
    voice_style_detection: bool
    #: Measure the speech rate
    speech_rate_detection: bool
    #: Speak at the measured rate
    speech_rate_control: bool
    #: Distinguish speakers
    speaker_identification: bool
    #: Adapt the translation to the speaker
    persona_adaptation: bool


class _NodeRegisterRequired(TypedDict):
    type: Literal["node_register"]
    #: Version of the node program
    version: str
    #: Operating system
    platform: str
    #: Hardware of the node
    hardware: Hardware
    #: Models on the node
    installed_models: List[InstalledModel]
    #: Optional analyses
    features_supported: FeatureFlags
    #: Accepts jobs of all tenants. False, or a token that names a tenant: only jobs of the tenant of its token; without one, jobs that name no tenant
    accept_public_jobs: bool


class NodeRegister(_NodeRegisterRequired, total=False):
    """First message of a node; answered by node_register_ack."""

    #: Id from an earlier registration; absent the first time
    node_id: str
    #: Generation of the capability report: "1.0" or "2.0"
    capability_schema_version: str
    #: Services on the node
    installed_services: List[InstalledService]
    #: Capability schema 2.0: readiness per service type
    capability_by_type: List[TypeCapability]
    #: Capability schema 1.0: service_id to ready, downloading, not_installed or error
    capability_state: Dict[str, str]
    #: Languages per stage
    language_capabilities: LanguageCapabilities
    #: Further features, informational
    advanced_features: List[str]
    #: Slots: jobs that the node runs at once
    max_concurrent_jobs: int
    #: Extensions that the node supports: job_ack, audio_ref, drain, cancel_ack, text_input, stage_results, glossary, interim
    supports: List[str]
    #: Region of the node
    region: str
    #: Zone of the node
    zone: str
    #: All jobs that the node has acknowledged and not answered yet; a job that is missing here counts as ended
    running_job_ids: List[str]


class _ResourceUsageRequired(TypedDict):
    #: CPU use in percent, 0 to 100; -1 if unknown
    cpu_percent: float
    #: Main memory use in percent, 0 to 100; -1 if unknown
    mem_percent: float
    #: Jobs the node is working on
    running_jobs: int


class ResourceUsage(_ResourceUsageRequired, total=False):
    """Load of the node."""

    #: GPU use in percent, 0 to 100; -1 if unknown
    gpu_percent: float
    #: GPU memory use in percent, 0 to 100; -1 if unknown
    gpu_mem_percent: float
    #: Work waiting for the GPU; above 0 the node is chosen last
    gpu_queue_length: int


class RerunMetrics(TypedDict, total=False):
    """Cumulative counts of repeated recognitions."""

    #: Recognitions repeated
    totalReruns: float
    #: … that succeeded
    successfulReruns: float
    #: … that failed
    failedReruns: float
    #: … that timed out
    timeoutReruns: float
    #: … that improved the text
    qualityImprovements: float


class AsrMetrics(TypedDict, total=False):
    """Superseded by processing_metrics."""

    #: Audio time divided by processing time
    processingEfficiency: float


class ProcessingMetrics(TypedDict, total=False):
    """Speed of the services."""

    #: service_id to efficiency since the last heartbeat: audio time divided by processing time, or characters per second
    serviceEfficiencies: Dict[str, float]


class _NodeHeartbeatRequired(TypedDict):
    type: Literal["node_heartbeat"]
    #: Id of the node
    node_id: str
    #: Clock of the node (epoch ms)
    timestamp: float
    #: Load of the node
    resource_usage: ResourceUsage


class NodeHeartbeat(_NodeHeartbeatRequired, total=False):
    """Sent at the interval of the ack, and when services change."""

    #: Models on the node
    installed_models: List[InstalledModel]
    #: Services on the node
    installed_services: List[InstalledService]
    #: Capability schema 2.0: readiness per service type
    capability_by_type: List[TypeCapability]
    #: Capability schema 1.0: service_id to ready, downloading, not_installed or error
    capability_state: Dict[str, str]
    #: Languages per stage
    language_capabilities: LanguageCapabilities
    #: Cumulative counts of repeated recognitions
    rerun_metrics: RerunMetrics
    #: Superseded by processing_metrics
    asr_metrics: AsrMetrics
    #: Speed of the services
    processing_metrics: ProcessingMetrics
    #: All jobs that the node has acknowledged and not answered yet; a job that is missing here counts as ended
    running_job_ids: List[str]
    #: State that the node reports for itself
    health: Literal["ready", "degraded", "draining", "offline"]
    #: The node will stop in so many milliseconds, for instance because its machine is taken away: it gets no new jobs, and what it cannot finish moves at once. Absent: it stays
    leaving_in_ms: int


class JobAck(TypedDict):
    """The node has accepted the job; sent only by nodes that support job_ack."""

    type: Literal["job_ack"]
    #: Job
    job_id: str
    #: Attempt of the job, from 1
    attempt_id: int
    #: Id of the node
    node_id: str
    #: Session of the job
    session_id: str
    #: Correlates everything that belongs to one utterance
    trace_id: str


class JobStarted(TypedDict):
    """The node is working on the job."""

    type: Literal["job_started"]
    #: Job
    job_id: str
    #: Attempt of the job, from 1
    attempt_id: int
    #: Id of the node
    node_id: str
    #: Session of the job
    session_id: str
    #: Correlates everything that belongs to one utterance
    trace_id: str


class AsrPartial(TypedDict):
    """Text recognised so far."""

    type: Literal["asr_partial"]
    #: Job
    job_id: str
    #: Id of the node
    node_id: str
    #: Session of the job
    session_id: str
    #: Utterance of the session
    utterance_index: int
    #: Recognised text
    text: str
    #: The text is final
    is_final: bool
    #: Correlates everything that belongs to one utterance
    trace_id: str


class _JobTextRequired(TypedDict):
    type: Literal["job_text"]
    #: Job
    job_id: str
    #: Attempt of the job, from 1
    attempt_id: int
    #: Id of the node
    node_id: str
    #: Session of the job
    session_id: str
    #: Correlates everything that belongs to one utterance
    trace_id: str


class JobText(_JobTextRequired, total=False):
    """Texts of the job that are final, sent before its voice is made; its result repeats them. For nodes that support stage_results."""

    #: Recognised text
    text_asr: str
    #: Translated text
    text_translated: str


class SegmentsMeta(TypedDict, total=False):
    """How the recognised speech was segmented."""

    #: Number of segments
    count: int
    #: Longest gap between segments, in seconds
    max_gap: float
    #: Mean duration of a segment, in seconds
    avg_duration: float


class _JobFailureRequired(TypedDict):
    #: Error code, from the list or of the node’s own
    code: str
    #: What went wrong
    message: str


class JobFailure(_JobFailureRequired, total=False):
    """Why a job failed."""

    #: Further data, depending on the code
    details: Any


class _JobResultRequired(TypedDict):
    type: Literal["job_result"]
    #: Job
    job_id: str
    #: Attempt of the job, from 1
    attempt_id: int
    #: Id of the node
    node_id: str
    #: Session of the job
    session_id: str
    #: Correlates everything that belongs to one utterance
    trace_id: str
    #: Utterance of the session
    utterance_index: int
    #: Whether the job succeeded
    success: bool


class JobResult(_JobResultRequired, total=False):
    """The outcome of an attempt."""

    #: Recognised text
    text_asr: str
    #: Translated text
    text_translated: str
    #: Spoken translation
    tts_audio: str
    #: Format of the spoken translation, passed through
    tts_format: str
    #: Details of the result; other keys are passed through
    extra: Dict[str, Any]
    #: Time the node worked on the job
    processing_time_ms: float
    #: When the node was done (epoch ms)
    node_completed_at_ms: float
    #: Terms of the glossary, in the source language, that the translation used; absent: the node uses no glossary
    glossary_used: List[str]
    #: Quality of the recognition
    asr_quality_level: str
    #: Reasons for the quality. The scheduler adds NO_TRANSLATION if no node translated the text.
    reason_codes: List[str]
    #: Quality from 0 to 1
    quality_score: float
    #: How often recognition was repeated
    rerun_count: int
    #: How the recognised speech was segmented
    segments_meta: SegmentsMeta
    #: Language of the speech as the node recognised it, also if the source language is `auto`
    detected_language: str
    #: Why a job failed
    error: JobFailure
    #: Group of the utterance
    group_id: str
    #: Position in the group
    part_index: int


class _NodeErrorRequired(TypedDict):
    type: Literal["node_error"]
    #: Id of the node
    node_id: str
    #: Error code
    code: str
    #: What went wrong
    message: str


class NodeError(_NodeErrorRequired, total=False):
    """A problem of the node that concerns no job."""

    #: Further data, depending on the code
    details: Any


class _NodeRegisterAckRequired(TypedDict):
    type: Literal["node_register_ack"]
    #: Id of the node from now on; may differ from the requested one
    node_id: str
    #: Text for people
    message: str
    #: State of the node
    status: str


class NodeRegisterAck(_NodeRegisterAckRequired, total=False):
    """The node is registered."""

    #: How often to send node_heartbeat
    heartbeat_interval_ms: int
    #: Number of this registration; the highest wins
    generation: int


class _NodeStatusRequired(TypedDict):
    type: Literal["node_status"]
    #: Id of the node
    node_id: str
    #: New state
    status: str
    #: When (Unix seconds)
    timestamp: float


class NodeStatus(_NodeStatusRequired, total=False):
    """The state of the node has changed."""

    #: Why
    reason: str


class _PipelineRequired(TypedDict):
    #: Recognise speech
    use_asr: bool
    #: Translate
    use_nmt: bool
    #: Speak the translation
    use_tts: bool


class Pipeline(_PipelineRequired, total=False):
    """Stages of a job."""

    #: Repair the recognised text; default false
    use_semantic: bool
    #: Clone the voice; default false
    use_tone: bool
    #: Correct by sound; default false
    use_phonetic: bool
    #: Correct by lexicon; default false
    use_lexicon: bool


class _AudioRefRequired(TypedDict):
    #: Address of the audio; opaque if it came from outside
    url: str


class AudioRef(_AudioRefRequired, total=False):
    """Audio by reference."""

    #: Bearer token that gives access for this job only
    token: str
    #: Size of the audio
    bytes: int


class JobAssignLid(TypedDict):
    """Language identification."""

    #: Candidate languages
    candidates: List[str]


class JobTerm(TypedDict):
    """A term of the language pair of the job."""

    #: The term, as it may occur in the text; upper and lower case are the same
    source: str
    #: Its translation
    target: str


class JobGlossary(TypedDict):
    """Terms that the translation has to use."""

    #: Glossary
    glossary_id: str
    #: The terms for the languages of the job; for a job with text, those that occur in it
    terms: List[JobTerm]


class _JobAssignRequired(TypedDict):
    type: Literal["job_assign"]
    #: Id of the job; never reused
    job_id: str
    #: Attempt of the job, from 1
    attempt_id: int
    #: Session of the job
    session_id: str
    #: Utterance of the session
    utterance_index: int
    #: Source language, or `auto`
    src_lang: str
    #: Target language
    tgt_lang: str
    #: Stages of a job
    pipeline: Pipeline
    #: Audio of the utterance; empty if audio_ref or input_text is given
    audio: str
    #: pcm16: 16-bit mono; opus: a sequence of [u16 LE packet length][packet]
    audio_format: Literal["pcm16", "wav", "opus"]
    #: Samples per second
    sample_rate: int
    #: Correlates everything that belongs to one utterance
    trace_id: str


class JobAssign(_JobAssignRequired, total=False):
    """A job for the node."""

    #: Dialect of the speaker
    dialect: str
    #: Optional analyses
    features: FeatureFlags
    #: What this job does of the work for an utterance, in order; absent: all that pipeline says
    stages: List[Literal["asr", "semantic", "nmt", "tts"]]
    #: Text to work on instead of audio; only for nodes that support text_input
    input_text: str
    #: Audio by reference
    audio_ref: AudioRef
    #: One direction, or both with automatic recognition of the speaker's language
    mode: Literal["one_way", "two_way_auto"]
    #: First language of a two-way conversation
    lang_a: str
    #: Second language of a two-way conversation
    lang_b: str
    #: Candidate languages when the source is `auto`
    auto_langs: List[str]
    #: Request partial recognitions
    enable_streaming_asr: bool
    #: Time between partial recognitions
    partial_update_interval_ms: int
    #: Group of the utterance
    group_id: str
    #: Position in the group
    part_index: int
    #: Text before this utterance
    context_text: str
    #: Silence to append
    padding_ms: float
    #: The speaker ended the utterance; always true for legacy nodes
    is_manual_cut: bool
    #: A pause ended the utterance
    is_pause_triggered: bool
    #: A timeout ended the utterance
    is_timeout_triggered: bool
    #: The utterance was cut because of its length
    is_max_duration_triggered: bool
    #: Shared by the parts of one long utterance
    turn_id: str
    #: Language identification
    lid: JobAssignLid
    #: Room of the session
    room_id: str
    #: Terms that the translation has to use
    glossary: JobGlossary
    #: When the result becomes useless (epoch ms)
    deadline_ms: float


class _JobCancelRequired(TypedDict):
    type: Literal["job_cancel"]
    #: Job
    job_id: str


class JobCancel(_JobCancelRequired, total=False):
    """The job is no longer needed."""

    #: Correlates everything that belongs to one utterance
    trace_id: str
    #: Why
    reason: str


class _NodeControlRequired(TypedDict):
    type: Literal["node_control"]
    #: Command; drain, resume (ends a drain) and reconnect are extensions
    command: str


class NodeControl(_NodeControlRequired, total=False):
    """A command; unknown ones are ignored."""

    #: Why
    reason: str


class _SchedulerErrorRequired(TypedDict):
    type: Literal["error"]
    #: Error code
    code: str
    #: What is wrong, as text for people
    message: str


class SchedulerError(_SchedulerErrorRequired, total=False):
    """A message of this peer could not be served."""

    #: Further data, depending on the code. In a session, an error without `job_id` that names audio refuses it: a whole utterance by `request_id` (or its `utterance_index` as sent), chunks by `first_seq` and `last_seq`. RATE_LIMITED: send it again; any other code: it will have no outcome
    details: Any
    #: Correlates everything that belongs to one utterance
    trace_id: str


class ModelNotAvailableDetails(TypedDict, total=False):
    """`error.details` of MODEL_NOT_AVAILABLE."""

    #: Service that is missing
    service_id: str
    #: Version that is missing
    service_version: str
    #: Why
    reason: str
    #: Old name of service_id
    model_id: str
    #: Old name of service_version
    version: str


class NodeOverloadedDetails(TypedDict, total=False):
    """`error.details` of NODE_OVERLOADED."""

    #: Jobs the node is working on
    running: int
    #: Slots of the node
    max: int


class JobOutput(TypedDict, total=False):
    """What a job handler returns; the SDK adds ids and times."""

    #: Recognised text
    text_asr: str
    #: Translated text
    text_translated: str
    #: Format of the spoken translation, passed through
    tts_format: str
    #: Details of the result; other keys are passed through
    extra: Dict[str, Any]
    #: Terms of the glossary, in the source language, that the translation used; absent: the node uses no glossary
    glossary_used: List[str]
    #: Quality of the recognition
    asr_quality_level: str
    #: Reasons for the quality. The scheduler adds NO_TRANSLATION if no node translated the text.
    reason_codes: List[str]
    #: Quality from 0 to 1
    quality_score: float
    #: How often recognition was repeated
    rerun_count: int
    #: How the recognised speech was segmented
    segments_meta: SegmentsMeta
    #: Language of the speech as the node recognised it, also if the source language is `auto`
    detected_language: str
    #: Spoken translation
    tts_audio: Union[bytes, str]


class Capabilities(TypedDict, total=False):
    """What a node can do; absent fields get a default."""

    #: Version of the node program
    version: str
    #: Generation of the capability report: "1.0" or "2.0"
    capability_schema_version: str
    #: Operating system
    platform: str
    #: Hardware of the node
    hardware: Hardware
    #: Models on the node
    installed_models: List[InstalledModel]
    #: Services on the node
    installed_services: List[InstalledService]
    #: Capability schema 2.0: readiness per service type
    capability_by_type: List[TypeCapability]
    #: Capability schema 1.0: service_id to ready, downloading, not_installed or error
    capability_state: Dict[str, str]
    #: Languages per stage
    language_capabilities: LanguageCapabilities
    #: Optional analyses
    features_supported: FeatureFlags
    #: Further features, informational
    advanced_features: List[str]
    #: Accepts jobs of all tenants. False, or a token that names a tenant: only jobs of the tenant of its token; without one, jobs that name no tenant
    accept_public_jobs: bool
    #: Region of the node
    region: str
    #: Zone of the node
    zone: str
