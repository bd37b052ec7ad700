--[[ drop-job: let a settled job go before its time.
  KEYS[1] current  HASH  the latest job of this tag
  KEYS[2] earlier  HASH  this job, if its request has been bound anew since
  ARGV[1] id       of the job
  Returns {"dropped"} or {"kept"} if it is gone already, or lives
  Idempotent: what is gone stays gone. ]]
local current, earlier, id = KEYS[1], KEYS[2], ARGV[1]
for _, key in ipairs({ current, earlier }) do
  local job = redis.call('HMGET', key, 'id', 'settled')
  if job[1] == id and job[2] then
    redis.call('UNLINK', key)
    return { 'dropped' }
  end
end
return { 'kept' }
