--[[ take-over-job: another instance drives a job from now on, if the one that is gone still did.
  KEYS[1] current   HASH  the latest job of this tag
  KEYS[2] earlier   HASH  this job, if its request has been bound anew since; then it is settled
  ARGV[1] id        of the job
  ARGV[2] instance  that drove it
  ARGV[3] living    incarnation of that instance which lives and keeps its jobs, or ""
  ARGV[4] to        "instance/incarnation" that takes over
  Returns {"taken", life, former, field, value, ...} with the ms its record still lasts, who drove it until now and the whole of it, {"settled"} if there is nothing to
  drive, {"driven", driver} if somebody else drives it, or {"unknown_job"}
  Idempotent: who drives it already has taken it. ]]
local current, earlier, id, instance, living, to = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local job = redis.call('HMGET', current, 'id', 'driver', 'settled')
if job[1] ~= id then
  if redis.call('EXISTS', earlier) == 1 then
    return { 'settled' }
  end
  return { 'unknown_job' }
end
if job[3] then
  return { 'settled' }
end
local holder, incarnation = string.match(job[2], '^(.*)/([^/]*)$')
if job[2] ~= to and (holder ~= instance or incarnation == living) then
  return { 'driven', job[2] }
end
redis.call('HSET', current, 'driver', to)
return { 'taken', redis.call('PTTL', current), job[2], unpack(redis.call('HGETALL', current)) }
