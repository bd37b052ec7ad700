--[[ close-inbox: delete an inbox if it is empty.
  KEYS[1] inbox  STREAM
  Returns {"closed"} or {"not_empty", messages}
  Idempotent: a missing inbox is closed. In one step, so that no message can arrive in between. ]]
local inbox = KEYS[1]
if redis.call('EXISTS', inbox) == 0 then
  return { 'closed' }
end
local messages = redis.call('XLEN', inbox)
if messages > 0 then
  return { 'not_empty', messages }
end
redis.call('DEL', inbox)
return { 'closed' }
