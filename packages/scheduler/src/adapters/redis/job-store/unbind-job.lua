--[[ unbind-job: end the lease of a settled job early; its record stays.
  KEYS[1] current  HASH  the latest job of this tag
  ARGV[1] id       of the job
  Returns {"unbound"} or {"kept"} if the key has another job, or the job is not settled
  Idempotent: an ended lease is ended again. ]]
local current, id = KEYS[1], ARGV[1]
local job = redis.call('HMGET', current, 'id', 'settled')
if job[1] ~= id or not job[2] then
  return { 'kept' }
end
redis.call('HSET', current, 'bound_until', 0)
return { 'unbound' }
