/** Chinese hints for error codes. The English ones come with the error from the server. */
import type { ErrorCode } from '@lingua/protocol';

export const zhHints: Readonly<Record<`hint.${ErrorCode}`, string>> = {
  'hint.INVALID_MESSAGE': '请改正消息中指出的字段;docs/protocol.md 列出了所有字段。',
  'hint.INTERNAL_ERROR': '调度器的故障：请连同 trace_id 一起报告。',
  'hint.UNAUTHORIZED':
    '请发送 "Authorization: Bearer <token>"（套接字用 ?token=），令牌在 server.tokens 中。',
  'hint.FORBIDDEN': '此凭证无权执行；请使用角色、租户或 node_id 正确的凭证。',
  'hint.INVALID_CONFIG': '请按消息改正配置文件后重新加载；之前的设置仍然有效。',
  'hint.NOT_FOUND':
    '没有这个名称的对象，或此凭证看不到它。结束的任务只保留 job_retention_ms；长期离线的节点会被移除。',
  'hint.RATE_LIMITED': '请放慢速度，稍后再试；如有 retry_after_ms 请等待相应时间。',
  'hint.QUOTA_EXCEEDED':
    '该租户已用完本日或本月的配额：请等待 retry_after_ms，或提高其配额（scheduler.quotas）。',
  'hint.PAYLOAD_TOO_LARGE':
    '请发送更小的消息；上限为 server.limits.max_message_bytes，节点为 max_node_message_bytes。',
  'hint.IDEMPOTENCY_CONFLICT': '此 request_id 已用于其他内容；新的请求请使用新的编号。',
  'hint.INVALID_SESSION': '请先用 session_init 打开会话。',
  'hint.SESSION_CLOSED': '会话已结束；请打开新的会话。',
  'hint.UNSUPPORTED_FEATURE': '此调度器还没有这个功能。',
  'hint.INVALID_PAIRING_CODE': '不发放配对码；请省略 pairing_code。',
  'hint.NO_CAPABLE_NODE': '没有注册的节点具备这些语言和服务；请注册具备的节点，或改用其他语言。',
  'hint.PREFERRED_NODE_NOT_CAPABLE': '请指定其他 preferred_node_id，或省略 options.strict 以允许其他节点。',
  'hint.ALL_CANDIDATES_FULL_OR_FAILED': '请稍后再试、设置 wait_ms，或增加容量。',
  'hint.NO_AVAILABLE_NODE': '所有合适的节点都在忙；请稍后再试。',
  'hint.NODE_UNAVAILABLE': '节点已断开，没有其他节点能接手任务。',
  'hint.ACK_TIMEOUT': '节点没有及时确认任务（ack_timeout_ms），也没有其他节点能接手；请检查该节点。',
  'hint.NODE_OVERLOADED': '节点已满；调度器会尝试其他节点。',
  'hint.MODEL_NOT_AVAILABLE': '节点缺少模型；调度器会尝试其他节点。',
  'hint.MODEL_LOAD_FAILED': '节点无法加载模型；请查看其日志。',
  'hint.MODEL_VERIFY_FAILED': '请在节点上重新安装模型。',
  'hint.MODEL_CORRUPTED': '请在节点上重新安装模型。',
  'hint.PROCESSING_ERROR': '节点处理此音频失败；请查看其日志。',
  'hint.WS_DISCONNECTED': '与节点的连接已断开。',
  'hint.NMT_TIMEOUT': '翻译耗时过长；请重试。',
  'hint.TTS_TIMEOUT': '语音合成耗时过长；请重试。',
  'hint.JOB_TIMEOUT': '没有节点及时应答；请重试。',
  'hint.RESULT_TIMEOUT': '较早的结果没有及时到达，已跳过。',
  'hint.NO_RESULT': '节点结束任务但没有结果。旧版节点在文字与上一句重复时会这样；否则请查看节点日志。',
  'hint.AUDIO_LOST': '音频与保存它的实例一起丢失；请重新发送请求。',
  'hint.JOB_CANCELLED': '任务已取消。',
  'hint.NO_GPU_AVAILABLE': '此调度器只接受带 GPU 的节点（scheduler.node_health.require_gpu）。',
  'hint.NODE_ID_CONFLICT': '此 node_id 属于其他凭证；省略 node_id 即可获得新的编号。',
  'hint.INVALID_CAPABILITY_SCHEMA': 'capability_schema_version 必须是 "1.0" 或 "2.0"。',
  'hint.SCHEDULER_DEPENDENCY_DOWN': '调度器无法访问其存储，恢复之前拒绝新任务。',
};
