--[[ save-session: save the state that another instance needs to continue a session, unless another instance owns it.
  KEYS[1] owner     STRING  "instance/incarnation" that has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] saver     "instance/incarnation" of the caller
  ARGV[2] revision  of the state
  ARGV[3] body      the state as JSON
  ARGV[4] ttl       ms
  Returns {"saved"} or {"lost"}
  Idempotent: a save that arrives after a later one of the same owner changes nothing. ]]
local owner, state, saver, revision, body, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local holder = redis.call('GET', owner)
if holder and holder ~= saver then
  return { 'lost' }
end
if holder and tonumber(redis.call('HGET', state, 'revision') or -1) > tonumber(revision) then
  return { 'saved' }
end
redis.call('SET', owner, saver, 'PX', ttl)
redis.call('HSET', state, 'revision', revision, 'body', body)
redis.call('PEXPIRE', state, ttl)
return { 'saved' }
