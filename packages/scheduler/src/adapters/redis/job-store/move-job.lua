--[[ move-job: change a job's record if it is in the state that the caller expects, otherwise return it.
  KEYS[1] current    HASH  the latest job of this tag
  KEYS[2] earlier    HASH  this job, if its request has been bound to another job since
  ARGV[1] id         of the job
  ARGV[2] driver     "instance/incarnation" of the caller
  ARGV[3] state      it must have
  ARGV[4] attempt    its fence must have
  ARGV[5] revision   the caller has seen, or -1
  ARGV[6] retention  ms to keep it from now on if this move settles it, or 0
  ARGV[7] lease      ms for which it stays bound if this move settles it
  ARGV[8] first      entries of the timeline that are never overwritten; as many of the newest share the fields after them in turn
  ARGV[9] entries    how many follow
  ARGV[10] entry     the entries, then fields and values in turn, the state first
  Returns {"moved", watchers} if the caller had seen the latest revision, {"moved_unseen", field, value, ...} with the whole
  record if not, {"stale", field, value, ...}, {"driven_elsewhere"} if another driver has it, or {"unknown_job"}
  Idempotent: after the move the state, the attempt or the newest entry differs, and a repeat is stale. ]]
local current, earlier, id, driver, state, attempt, revision = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local retention, lease, first, entries = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local function field(index)
  if index < first then
    return 't' .. index
  end
  return 't' .. first + (index - first) % first
end
local key = current
local job = redis.call('HMGET', key, 'id', 'state', 'attempt', 'n', 'settled', 'watchers', 'driver')
if job[1] ~= id then
  key = earlier
  job = redis.call('HMGET', key, 'id', 'state', 'attempt', 'n', 'settled', 'watchers', 'driver')
  if job[1] ~= id then
    return { 'unknown_job' }
  end
end
-- Before anything else: an instance that was declared dead must not get a record from which it could continue.
if job[7] ~= driver then
  return { 'driven_elsewhere' }
end
local n = tonumber(job[4])
local last = 9 + entries
-- Only a move that keeps the state could look as if it had not been made yet.
local is_made = ARGV[last + 2] == state and redis.call('HGET', key, field(n - 1)) == ARGV[last]
if job[2] ~= state or job[3] ~= attempt or is_made then
  return { 'stale', unpack(redis.call('HGETALL', key)) }
end
local changes = { unpack(ARGV, last + 1) }
for at = 1, entries do
  changes[#changes + 1] = field(n)
  changes[#changes + 1] = ARGV[9 + at]
  n = n + 1
end
changes[#changes + 1] = 'n'
changes[#changes + 1] = n
if retention > 0 and not job[5] then
  local time = redis.call('TIME')
  changes[#changes + 1] = 'settled'
  changes[#changes + 1] = 1
  changes[#changes + 1] = 'bound_until'
  changes[#changes + 1] = time[1] * 1000 + math.floor(time[2] / 1000) + lease
  redis.call('PEXPIRE', key, retention)
end
redis.call('HSET', key, unpack(changes))
if job[4] == revision then
  return { 'moved', job[6] or '' }
end
return { 'moved_unseen', unpack(redis.call('HGETALL', key)) }
