--[[ take-session: make the caller the owner of a session, if its owner is still the one that the caller has read.
  KEYS[1] owner     STRING  "instance/incarnation" that has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] taker     "instance/incarnation" of the caller
  ARGV[2] from      the owner that the caller has read
  ARGV[3] ttl       ms
  Returns {"taken", body}, {"lost"} or {"absent"}
  Idempotent: the owner may take it again. ]]
local owner, state, taker, from, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local body = redis.call('HGET', state, 'body')
if not body then
  return { 'absent' }
end
local holder = redis.call('GET', owner) or ''
if holder ~= from and holder ~= taker then
  return { 'lost' }
end
redis.call('SET', owner, taker, 'PX', ttl)
redis.call('PEXPIRE', state, ttl)
return { 'taken', body }
