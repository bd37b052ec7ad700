--[[ discard-job: take a job back that was never dispatched, with its binding.
  KEYS[1] current  HASH  the latest job of this tag
  ARGV[1] id       of the job
  Returns {"discarded"}, {"kept"} if it was dispatched or is settled, or {"unknown_job"}
  Idempotent: what is gone is unknown. ]]
local current, id = KEYS[1], ARGV[1]
local job = redis.call('HMGET', current, 'id', 'attempt', 'settled')
if job[1] ~= id then
  return { 'unknown_job' }
end
if job[2] ~= '0' or job[3] then
  return { 'kept' }
end
redis.call('DEL', current)
return { 'discarded' }
