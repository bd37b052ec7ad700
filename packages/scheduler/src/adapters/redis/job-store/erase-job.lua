--[[ erase-job: overwrite the fields of a settled job that contain what people said. It stays only as long as its request is bound to it.
  KEYS[1] current  HASH  the latest job of this tag
  KEYS[2] earlier  HASH  this job, if its request has been bound to another job since
  ARGV[1] id       of the job
  ARGV[2] fields   and values in turn, from here on
  Returns {"erased"}, {"not_settled"} or {"unknown_job"}
  Idempotent: the same fields are written again, and its end does not move. ]]
local current, earlier, id = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, key in ipairs({ current, earlier }) do
  local job = redis.call('HMGET', key, 'id', 'settled', 'bound_until')
  if job[1] == id then
    if not job[2] then
      return { 'not_settled' }
    end
    local left = tonumber(job[3]) - now
    if left <= 0 then
      redis.call('UNLINK', key)
    else
      redis.call('HSET', key, unpack(ARGV, 2))
      if redis.call('PTTL', key) > left then
        redis.call('PEXPIRE', key, left)
      end
    end
    return { 'erased' }
  end
end
return { 'unknown_job' }
