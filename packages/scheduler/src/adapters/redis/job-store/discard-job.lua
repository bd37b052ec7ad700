--[[ discard-job: remove a job that was never dispatched, with its binding.
  KEYS[1] current  HASH  the latest job of this tag
  ARGV[1] id       of the job
  ARGV[2] driver   "instance/incarnation" that removes it
  Returns {"discarded"}, {"kept"} if it was dispatched or is settled, {"driven_elsewhere"} if another driver has it, or
  {"unknown_job"}
  Idempotent: a removed job is unknown. ]]
local current, id, driver = KEYS[1], ARGV[1], ARGV[2]
local job = redis.call('HMGET', current, 'id', 'attempt', 'settled', 'driver')
if job[1] ~= id then
  return { 'unknown_job' }
end
if job[4] ~= driver then
  return { 'driven_elsewhere' }
end
if job[2] ~= '0' or job[3] then
  return { 'kept' }
end
redis.call('DEL', current)
return { 'discarded' }
