--[[ remove-session: remove a session that has ended, unless another instance owns it.
  KEYS[1] owner     STRING  "instance/incarnation" that has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  ARGV[1] asker     "instance/incarnation" of the caller
  Returns {"removed"} or {"lost"}
  Idempotent: a missing session is removed. ]]
local owner, state, asker = KEYS[1], KEYS[2], ARGV[1]
local holder = redis.call('GET', owner)
if holder and holder ~= asker then
  return { 'lost' }
end
redis.call('DEL', owner, state)
return { 'removed' }
