--[[ reserve-slot: take one slot on one node for one attempt of a job, or say why not.
  KEYS[1] node    HASH  slots, accepting, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks   HASH  "a:job:attempt" abandoned, "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms
  ARGV[3] idle    ms that a node's keys are kept after its last report
  Returns {"reserved"|"already"|"full", used, max} or {"not_ready"|"unknown_node"}
  Idempotent: the same lease never takes two slots; a repeat extends it to the time of a new one and never shortens it. ]]
local node, leases, marks, lease, ttl, idle = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
local slots, accepting, reported, released = unpack(redis.call('HMGET', node, 'slots', 'accepting', 'reported', 'released'))
if not slots then
  return { 'unknown_node' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local max = tonumber(slots)
local seen = (tonumber(reported) or 0) - (tonumber(released) or 0)
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
-- The common case, in as few calls as possible: expired leases are not counted; a reserve on a full node or a report removes them.
if accepting == '1' and math.max(held, seen) < max and redis.call('ZADD', leases, 'NX', now + ttl, lease) == 1 then
  -- Without an expiry a new set would stay for ever if no report of the node followed.
  if held == 0 then
    redis.call('PEXPIRE', leases, idle)
  end
  return { 'reserved', math.max(held + 1, seen), max }
end
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('ZREM', leases, ended)
  redis.call('HDEL', marks, 'a:' .. ended, 'r:' .. ended, 't:' .. ended)
end
local expiry = redis.call('ZSCORE', leases, lease)
if expiry then
  if tonumber(expiry) < now + ttl then
    redis.call('ZADD', leases, now + ttl, lease)
  end
  return { 'already', math.max(held, seen), max }
end
if accepting ~= '1' then
  return { 'not_ready' }
end
if math.max(held, seen) >= max then
  return { 'full', math.max(held, seen), max }
end
-- The lease had expired, and its id was removed only now.
redis.call('ZADD', leases, now + ttl, lease)
if held == 0 then
  redis.call('PEXPIRE', leases, idle)
end
return { 'reserved', math.max(held + 1, seen), max }
