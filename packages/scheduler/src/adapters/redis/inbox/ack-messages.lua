--[[ ack-messages: remove messages that were handled.
  KEYS[1] inbox   STREAM  field "body"
  ARGV[1] group   consumer group of the inbox
  ARGV[2] message  its id; any number of them
  Returns {"acked", messages}
  Idempotent: a message that was removed before is not counted. ]]
local inbox, group = KEYS[1], ARGV[1]
redis.call('XACK', inbox, group, unpack(ARGV, 2))
return { 'acked', redis.call('XDEL', inbox, unpack(ARGV, 2)) }
