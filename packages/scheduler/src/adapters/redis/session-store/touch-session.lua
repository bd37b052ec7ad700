--[[ touch-session: extend the expiry of a session without activity, if the caller still owns it.
  KEYS[1] owner     STRING  "instance/incarnation" that has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] asker     "instance/incarnation" of the caller
  ARGV[2] revision  that the caller has saved
  ARGV[3] ttl       ms
  Returns {"kept"}, {"lost"}, or {"stale"} if the stored revision is older
  Idempotent: a repeat only extends the expiry. ]]
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
