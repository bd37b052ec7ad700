--[[ take-over-job: make another instance the driver of a job, if the dead instance still is.
  KEYS[1] current   HASH  the latest job of this tag
  KEYS[2] earlier   HASH  this job, if its request has been bound to another job since; then it is settled
  ARGV[1] id        of the job
  ARGV[2] instance  that drove it
  ARGV[3] living    incarnation of that instance that is alive and keeps its jobs, or ""
  ARGV[4] to        "instance/incarnation" that takes over
  Returns {"taken", life, former, field, value, ...} with the ms for which its record is kept, its driver until now and the whole record, {"settled", field, value, ...}
  with the whole record if there is nothing to drive, {"driven", driver} if another instance drives it, or {"unknown_job"}
  Idempotent: if the caller drives it already, the answer is "taken". ]]
local current, earlier, id, instance, living, to = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local job = redis.call('HMGET', current, 'id', 'driver', 'settled')
if job[1] ~= id then
  if redis.call('EXISTS', earlier) == 1 then
    return { 'settled', unpack(redis.call('HGETALL', earlier)) }
  end
  return { 'unknown_job' }
end
if job[3] then
  return { 'settled', unpack(redis.call('HGETALL', current)) }
end
local holder, incarnation = string.match(job[2], '^(.*)/([^/]*)$')
if job[2] ~= to and (holder ~= instance or incarnation == living) then
  return { 'driven', job[2] }
end
redis.call('HSET', current, 'driver', to)
return { 'taken', redis.call('PTTL', current), job[2], unpack(redis.call('HGETALL', current)) }
