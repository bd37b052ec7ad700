--[[ take-over-job: another instance drives a job from now on, if the one that is gone still did.
  KEYS[1] current  HASH  the latest job of this tag
  ARGV[1] id       of the job
  ARGV[2] from     "instance/incarnation" that is gone
  ARGV[3] to       "instance/incarnation" that takes over
  Returns {"taken", field, value, ...} with the whole record, {"settled"} if there is nothing to drive, {"driven"} if somebody
  else drives it, or {"unknown_job"}
  Idempotent: who drives it already has taken it. ]]
local current, id, from, to = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local job = redis.call('HMGET', current, 'id', 'driver', 'settled')
if job[1] ~= id then
  return { 'unknown_job' }
end
if job[3] then
  return { 'settled' }
end
if job[2] ~= from and job[2] ~= to then
  return { 'driven' }
end
redis.call('HSET', current, 'driver', to)
return { 'taken', unpack(redis.call('HGETALL', current)) }
