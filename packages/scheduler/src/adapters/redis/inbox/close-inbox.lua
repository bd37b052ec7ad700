--[[ close-inbox: delete an inbox, if nothing is in it.
  KEYS[1] inbox  STREAM
  Returns {"closed"} or {"not_empty", letters}
  Idempotent: one that is gone is closed. In one step, so that no letter can slip in between. ]]
local inbox = KEYS[1]
if redis.call('EXISTS', inbox) == 0 then
  return { 'closed' }
end
local letters = redis.call('XLEN', inbox)
if letters > 0 then
  return { 'not_empty', letters }
end
redis.call('DEL', inbox)
return { 'closed' }
