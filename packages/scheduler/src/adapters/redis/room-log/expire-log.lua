--[[ expire-log: let the log of a room expire after a time without an append.
  KEYS[1] log  HASH  first, last, seq, count, ttl; position -> when (ms), number, speaker, key; b<position> -> body; key -> position; expires
  ARGV[1] ttl  ms; 0 removes it now
  Returns {"expires"} or {"gone"}
  Idempotent: a repeat sets the same expiry. ]]
local log, ttl = KEYS[1], ARGV[1]
if redis.call('EXISTS', log) == 0 then
  return { 'gone' }
end
if tonumber(ttl) <= 0 then
  redis.call('UNLINK', log)
  return { 'gone' }
end
redis.call('HSET', log, 'ttl', ttl)
redis.call('PEXPIRE', log, ttl)
return { 'expires' }
