--[[ find-bound-job: the job to which a request is bound, while the binding is valid.
  KEYS[1] current  HASH  the latest job of this tag
  Returns {"bound", field, value, ...} with the whole record, or {"unbound"}
  Idempotent: it only reads. ]]
local current = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', current, 'id', 'bound_until')
if not held[1] or (held[2] and tonumber(held[2]) <= now) then
  return { 'unbound' }
end
return { 'bound', unpack(redis.call('HGETALL', current)) }
