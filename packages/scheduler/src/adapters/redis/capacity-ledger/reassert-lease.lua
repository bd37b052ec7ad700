--[[ reassert-lease: a lease that exists is written again after a failover lost it, whether it fits or not.
  KEYS[1] node    HASH  slots, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks   HASH  "f:job:attempt" fenced, "r:job:attempt" held at the last report
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms from now; a lease that lasts longer stays as it is
  ARGV[3] idle    ms that a node's keys outlive its last report by
  Returns {"reasserted", used, max} or {"unknown_node"}
  Idempotent: a lease takes one slot, and its end moves only outwards. ]]
local node, leases, marks, lease, ttl, idle = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
local slots, reported, released = unpack(redis.call('HMGET', node, 'slots', 'reported', 'released'))
if not slots then
  return { 'unknown_node' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('ZREM', leases, ended)
  redis.call('HDEL', marks, 'f:' .. ended, 'r:' .. ended)
end
redis.call('ZADD', leases, 'GT', now + ttl, lease)
if redis.call('PTTL', leases) < 0 then
  redis.call('PEXPIRE', leases, idle)
end
local seen = (tonumber(reported) or 0) - (tonumber(released) or 0)
return { 'reasserted', math.max(redis.call('ZCARD', leases), seen), tonumber(slots) }
