--[[ commit-lease: the attempt is on its way, so its lease lasts longer; one that has expired takes a free slot again.
  KEYS[1] node    HASH  slots, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks   HASH  "f:job:attempt" fenced, "r:job:attempt" held at the last report, "t:job:attempt" since when its node has it
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms from now
  ARGV[3] idle    ms that a node's keys outlive its last report by
  ARGV[4] again   ms from now, for a lease that had expired: who sent this may be gone by now
  Returns {"committed"|"retaken"|"lost", used, max} or {"unknown_node"}
  Idempotent: a repeat finds the lease held and only moves its end. ]]
local node, leases, marks, lease, ttl, idle, again = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local slots, reported, released = unpack(redis.call('HMGET', node, 'slots', 'reported', 'released'))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not slots then
  -- An emptied store may know the lease again before it knows its node.
  if redis.call('ZADD', leases, 'XX', 'CH', now + ttl, lease) == 1 and redis.call('PTTL', leases) < tonumber(ttl) then
    redis.call('PEXPIRE', leases, ttl)
  end
  return { 'unknown_node' }
end
local max = tonumber(slots)
local seen = (tonumber(reported) or 0) - (tonumber(released) or 0)
local expiry = tonumber(redis.call('ZSCORE', leases, lease))
if expiry and expiry > now then
  redis.call('ZADD', leases, now + ttl, lease)
  redis.call('HDEL', marks, 'f:' .. lease)
  if redis.call('HSETNX', marks, 't:' .. lease, now) == 1 and redis.call('PTTL', marks) < 0 then
    redis.call('PEXPIRE', marks, idle)
  end
  return { 'committed', math.max(redis.call('ZCOUNT', leases, '(' .. now, '+inf'), seen), max }
end
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('ZREM', leases, ended)
  redis.call('HDEL', marks, 'f:' .. ended, 'r:' .. ended, 't:' .. ended)
end
local held = redis.call('ZCARD', leases)
-- Against leases alone: the report may count this very job, which would then stand in its own way.
if held >= max then
  return { 'lost', math.max(held, seen), max }
end
redis.call('ZADD', leases, now + again, lease)
if held == 0 then
  redis.call('PEXPIRE', leases, idle)
end
return { 'retaken', math.max(held + 1, seen), max }
