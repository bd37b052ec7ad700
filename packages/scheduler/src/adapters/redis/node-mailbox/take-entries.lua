--[[ take-entries: hand out the oldest entries of a mailbox that have not expired, and commit their leases.
  KEYS[1] queue   ZSET  "expiry:job" (ms, server time) -> its position
  KEYS[2] bodies  HASH  job -> what is handed out; "s:job" -> "ttl lease" to commit when it is fetched, "" for a notice
  KEYS[3] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[4] marks   HASH  "a:job:attempt" abandoned, "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] max     how many at most
  ARGV[2] idle    ms that a node's keys are kept after its last report
  Returns {"taken", job, turn, body, job, turn, body ...}, {"taken"} alone if the mailbox is empty
  Safe twice: an entry is handed out once, so a repeat takes the next ones; entries of a reply that was lost are lost. ]]
local queue, bodies, leases, marks, max, idle = KEYS[1], KEYS[2], KEYS[3], KEYS[4], tonumber(ARGV[1]), ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = { 'taken' }
local taken = 0

-- False: the lease has ended or was abandoned, so the job must not reach the node.
local function commit(slot)
  local ttl, lease = string.match(slot, '^(%d+) (.*)$')
  local expiry = tonumber(redis.call('ZSCORE', leases, lease))
  if not expiry or expiry <= now or redis.call('HEXISTS', marks, 'a:' .. lease) == 1 then
    return false
  end
  redis.call('ZADD', leases, 'XX', 'GT', now + ttl, lease)
  if redis.call('HSETNX', marks, 't:' .. lease, now) == 1 and redis.call('PTTL', marks) < 0 then
    redis.call('PEXPIRE', marks, idle)
  end
  return true
end

-- Counted first: while the hash slot moves, a queue that has become empty cannot be read, and the taken entries would be lost.
local waiting = redis.call('ZCARD', queue)
while taken < max and waiting > 0 do
  waiting = waiting - 1
  local entry, turn = unpack(redis.call('ZPOPMIN', queue))
  local expiry, job = string.match(entry, '^(%d+):(.*)$')
  local body, slot = unpack(redis.call('HMGET', bodies, job, 's:' .. job))
  if tonumber(expiry) > now and slot and (slot == '' or commit(slot)) then
    table.insert(reply, job)
    table.insert(reply, turn)
    table.insert(reply, body)
    taken = taken + 1
  end
  redis.call('HDEL', bodies, job, 's:' .. job)
end
return reply
