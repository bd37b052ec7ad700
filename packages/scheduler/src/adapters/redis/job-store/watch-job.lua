--[[ watch-job: add an instance to the watchers of a job's moves, and return the current record.
  KEYS[1] current   HASH  the latest job of this tag
  KEYS[2] earlier   HASH  this job, if its request has been bound to another job since
  ARGV[1] id        of the job
  ARGV[2] instance  that watches
  ARGV[3] revision  it has seen, or -1
  Returns {"unchanged"}, {"watched", field, value, ...} with the whole record if it is another revision, or {"unknown_job"}
  Idempotent: an instance is added once. ]]
local current, earlier, id, instance, revision = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
for _, key in ipairs({ current, earlier }) do
  local job = redis.call('HMGET', key, 'id', 'n', 'watchers')
  if job[1] == id then
    local watchers = job[3] or ''
    if not string.find('\n' .. watchers, '\n' .. instance .. '\n', 1, true) then
      redis.call('HSET', key, 'watchers', watchers .. instance .. '\n')
    end
    if job[2] == revision then
      return { 'unchanged' }
    end
    return { 'watched', unpack(redis.call('HGETALL', key)) }
  end
end
return { 'unknown_job' }
