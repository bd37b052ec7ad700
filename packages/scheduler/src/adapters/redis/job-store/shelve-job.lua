--[[ shelve-job: move a job that is no longer bound to its second key, where its id still finds it, so that its request can be bound to another job.
  KEYS[1] current  HASH  the latest job of this tag
  KEYS[2] earlier  HASH  where the job goes; keeps its time to live
  ARGV[1] id       of the job
  Returns {"shelved"} or {"kept"} if the key has another job, or the job is bound
  Idempotent: after the move the first key has another job or none. ]]
local current, earlier, id = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', current, 'id', 'bound_until')
if held[1] ~= id or not held[2] or tonumber(held[2]) > now then
  return { 'kept' }
end
redis.call('RENAME', current, earlier)
return { 'shelved' }
