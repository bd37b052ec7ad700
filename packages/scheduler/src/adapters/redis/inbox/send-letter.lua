--[[ send-letter: put a letter into an inbox that is open and not full.
  KEYS[1] inbox      STREAM  field "body"
  ARGV[1] body       the letter
  ARGV[2] limit      letters it may hold
  Returns {"sent", id}, {"full"} or {"gone"}
  Running it twice sends two letters: receivers know the one they have handled. ]]
local inbox, body, limit = KEYS[1], ARGV[1], tonumber(ARGV[2])
if redis.call('EXISTS', inbox) == 0 then
  return { 'gone' }
end
if redis.call('XLEN', inbox) >= limit then
  return { 'full' }
end
return { 'sent', redis.call('XADD', inbox, '*', 'body', body) }
