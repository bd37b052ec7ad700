--[[ remove-session: a session is over, unless it is somebody else's by now.
  KEYS[1] owner     STRING  who has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] asker     who ends it
  Returns {"removed"} or {"lost"}
  Idempotent: what is gone is removed. ]]
local owner, state, asker = KEYS[1], KEYS[2], ARGV[1]
local holder = redis.call('GET', owner)
if holder and holder ~= asker then
  return { 'lost' }
end
redis.call('DEL', owner, state)
return { 'removed' }
