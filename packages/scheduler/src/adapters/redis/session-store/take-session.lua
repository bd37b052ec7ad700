--[[ take-session: a session passes to another instance, if it is still whose the taker thought it was.
  KEYS[1] owner     STRING  who has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] taker     who wants it
  ARGV[2] from      who had it when the taker looked
  ARGV[3] ttl       ms
  Returns {"taken", body}, {"lost"} or {"absent"}
  Idempotent: who has it may take it again. ]]
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
