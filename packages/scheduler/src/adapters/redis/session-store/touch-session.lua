--[[ touch-session: a session in which nothing happens is kept, if it is still the asker's.
  KEYS[1] owner     STRING  who has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] asker     who keeps it
  ARGV[2] revision  that the asker has saved
  ARGV[3] ttl       ms
  Returns {"kept"}, {"lost"}, or {"stale"} if less was saved than the asker thinks
  Idempotent: twice kept is kept. ]]
local owner, state, asker, revision, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local holder = redis.call('GET', owner)
if holder and holder ~= asker then
  return { 'lost' }
end
local known = tonumber(redis.call('HGET', state, 'revision') or -1)
if holder and known >= 0 then
  redis.call('PEXPIRE', owner, ttl)
  redis.call('PEXPIRE', state, ttl)
end
if not holder or known < tonumber(revision) then
  return { 'stale' }
end
return { 'kept' }
