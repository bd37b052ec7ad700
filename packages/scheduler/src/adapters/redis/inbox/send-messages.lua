--[[ send-messages: put messages into an open inbox, as many as it has room for.
  KEYS[1] inbox    STREAM  field "body"
  ARGV[1] limit    messages it may hold
  ARGV[2] body     of the messages, in their order; any number of them
  Returns {"sent", messages} with how many of them, from the first on; or {"gone"}
  Running it twice sends them twice: receivers recognize messages that they have handled. ]]
local inbox, limit = KEYS[1], tonumber(ARGV[1])
if redis.call('EXISTS', inbox) == 0 then
  return { 'gone' }
end
local sent = math.min(#ARGV - 1, math.max(0, limit - redis.call('XLEN', inbox)))
for at = 2, 1 + sent do
  redis.call('XADD', inbox, '*', 'body', ARGV[at])
end
return { 'sent', sent }
