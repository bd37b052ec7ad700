--[[ load-session: the last saved state of a session, and its owner.
  KEYS[1] owner     STRING  "instance/incarnation" that has the session; expires
  KEYS[2] state     HASH    revision, body; expires
  Returns {"found", owner, body} or {"absent"}
  Idempotent: only reads. ]]
local owner, state = KEYS[1], KEYS[2]
local body = redis.call('HGET', state, 'body')
if not body then
  return { 'absent' }
end
return { 'found', redis.call('GET', owner) or '', body }
