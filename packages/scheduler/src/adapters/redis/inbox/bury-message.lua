--[[ bury-message: move a message that could not be handled to the dead letters, or drop it where none are kept.
  KEYS[1] inbox     STREAM  field "body"
  KEYS[2] dead      STREAM  fields "body", "message", "deliveries"
  ARGV[1] group     consumer group of the inbox
  ARGV[2] message    its id
  ARGV[3] deliveries  how often it was delivered
  ARGV[4] limit     dead letters to keep
  Returns {"buried", id}, {"dropped"} or {"absent"}
  Idempotent: a message that was acknowledged or buried already is absent. ]]
local inbox, dead, group, message, deliveries, limit = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local found = redis.call('XRANGE', inbox, message, message)
redis.call('XACK', inbox, group, message)
if #found == 0 then
  return { 'absent' }
end
redis.call('XDEL', inbox, message)
if limit == 0 then
  return { 'dropped' }
end
local body = found[1][2][2]
local id = redis.call('XADD', dead, 'MAXLEN', limit, '*', 'body', body, 'message', message, 'deliveries', deliveries)
-- An instance that was removed and started again keeps its dead letters without expiry.
redis.call('PERSIST', dead)
return { 'buried', id }
