--[[ commit-lease: extend the lease of a job that is about to be handed to its node to the time that the job may run.
  KEYS[1] node    HASH  slots, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks   HASH  "a:job:attempt" abandoned, "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms from now
  ARGV[3] idle    ms that a node's keys are kept after its last report
  ARGV[4] late    "1": its node acknowledged an abandoned attempt; the mark is removed, and an ended lease takes a free slot again
  Returns {"committed"|"absent"|"abandoned"|"full", used, max} or {"unknown_node"}; only "committed" changes anything
  Idempotent: a repeat finds the lease and only extends it. ]]
local node, leases, marks, lease, ttl, idle, late = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local slots, reported, released = unpack(redis.call('HMGET', node, 'slots', 'reported', 'released'))
if not slots then
  return { 'unknown_node' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local max = tonumber(slots)
local seen = (tonumber(reported) or 0) - (tonumber(released) or 0)
-- Counted before anything is written: while the hash slot moves, a deleted key cannot be counted.
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
local expiry = tonumber(redis.call('ZSCORE', leases, lease))
local is_live = expiry and expiry > now
if not late then
  if not is_live then
    return { 'absent', math.max(held, seen), max }
  end
  if redis.call('HEXISTS', marks, 'a:' .. lease) == 1 then
    return { 'abandoned', math.max(held, seen), max }
  end
elseif not is_live then
  -- Compared with the leases alone: the node's report may count this very job.
  if held >= max then
    return { 'full', math.max(held, seen), max }
  end
  held = held + 1
end
redis.call('ZADD', leases, 'GT', now + ttl, lease)
if redis.call('PTTL', leases) < 0 then
  redis.call('PEXPIRE', leases, idle)
end
-- Written before marks are removed: while the hash slot moves, a hash that has become empty cannot be written.
if is_live then
  redis.call('HSETNX', marks, 't:' .. lease, now)
else
  -- The lease is new: marks of its first time may still exist, because no script has removed them since it ended.
  redis.call('HSET', marks, 't:' .. lease, now)
  redis.call('HDEL', marks, 'r:' .. lease)
end
if redis.call('PTTL', marks) < 0 then
  redis.call('PEXPIRE', marks, idle)
end
if late then
  redis.call('HDEL', marks, 'a:' .. lease)
end
return { 'committed', math.max(held, seen), max }
