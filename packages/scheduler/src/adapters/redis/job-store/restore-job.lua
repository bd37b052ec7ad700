--[[ restore-job: write the driver's copy of a job's record, if a failover lost the record or its latest moves.
  KEYS[1] current    HASH  the latest job of this tag
  KEYS[2] earlier    HASH  this job, if its request has been bound to another job since
  ARGV[1] id         of the job
  ARGV[2] driver     "instance/incarnation" of the caller
  ARGV[3] attempt    of its fence
  ARGV[4] revision   entries of its timeline ever written
  ARGV[5] life       ms for which an unsettled record is kept
  ARGV[6] retention  ms to keep it from now on if it is settled, or 0 if it is not
  ARGV[7] lease      ms for which it stays bound if it is settled
  ARGV[8] former     driver from which the caller took it over, or "": a failover may have lost the takeover, too
  ARGV[9] fields     and values in turn, from here on
  Returns {"restored"}, {"kept"} if the stored record is not older, {"driven_elsewhere", driver} if a third driver has it,
  {"bound_anew"} if its request has another job by now, or {"over", id} if that job is no longer bound and has to be shelved first
  Idempotent: a repeat finds a record that is not older. ]]
local current, earlier, id, driver, attempt, revision = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local life, retention, lease, former = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', current, 'id', 'bound_until')
local key = current
-- A settled job does not need the first key: a reader also finds it under the second.
if held[1] ~= id and (held[1] or redis.call('EXISTS', earlier) == 1) then
  key = earlier
end
local job = redis.call('HMGET', key, 'id', 'driver', 'attempt', 'n', 'settled')
if job[1] then
  if job[2] ~= driver and job[2] ~= former then
    return { 'driven_elsewhere', job[2] }
  end
  local known = tonumber(job[3])
  local is_behind = known < attempt or (known == attempt and tonumber(job[4]) < revision)
  if not is_behind or (job[5] and retention == 0) then
    redis.call('HSET', key, 'driver', driver)
    return { 'kept' }
  end
elseif held[1] and retention == 0 then
  if held[2] and tonumber(held[2]) <= now then
    return { 'over', held[1] }
  end
  return { 'bound_anew' }
end
redis.call('HSET', key, unpack(ARGV, 9))
if retention > 0 and not job[5] then
  redis.call('HSET', key, 'settled', 1, 'bound_until', now + lease)
  redis.call('PEXPIRE', key, retention)
elseif not job[1] then
  redis.call('PEXPIRE', key, life)
end
return { 'restored' }
