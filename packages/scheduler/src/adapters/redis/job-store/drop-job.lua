--[[ drop-job: remove a settled job before its retention ends.
  KEYS[1] current  HASH  the latest job of this tag
  KEYS[2] earlier  HASH  this job, if its request has been bound to another job since
  ARGV[1] id       of the job
  Returns {"dropped"} or {"kept"} if it is removed already, or not settled
  Idempotent: a repeat finds nothing to remove. ]]
local current, earlier, id = KEYS[1], KEYS[2], ARGV[1]
for _, key in ipairs({ current, earlier }) do
  local job = redis.call('HMGET', key, 'id', 'settled')
  if job[1] == id and job[2] then
    redis.call('UNLINK', key)
    return { 'dropped' }
  end
end
return { 'kept' }
