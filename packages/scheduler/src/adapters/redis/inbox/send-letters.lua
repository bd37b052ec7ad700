--[[ send-letters: put letters into an inbox that is open, as many as it has room for.
  KEYS[1] inbox  STREAM  field "body"
  ARGV[1] limit  letters it may hold
  ARGV[2] body   of the letters, in their order; any number of them
  Returns {"sent", letters} with how many of them, from the first on; or {"gone"}
  Running it twice sends them twice: receivers know what they have handled. ]]
local inbox, limit = KEYS[1], tonumber(ARGV[1])
if redis.call('EXISTS', inbox) == 0 then
  return { 'gone' }
end
local sent = math.min(#ARGV - 1, math.max(0, limit - redis.call('XLEN', inbox)))
for at = 2, sent + 1 do
  redis.call('XADD', inbox, '*', 'body', ARGV[at])
end
return { 'sent', sent }
