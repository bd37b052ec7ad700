--[[ declare-node: make a node known, or change its slots.
  KEYS[1] node       HASH  slots, accepting, reported, released, and the claim on the id
  KEYS[2] leases     ZSET  "job:attempt" -> expiry (ms, server time)
  ARGV[1] slots      how many jobs fit
  ARGV[2] accepting  "1" or "0"
  Returns {"declared", used, max}
  Idempotent: leases and the last report stay as they are. ]]
local node, leases, slots, accepting = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', node, 'slots', slots, 'accepting', accepting)
-- It may have been forgotten a while ago, and be on its way out.
redis.call('PERSIST', node)
local reported, released = unpack(redis.call('HMGET', node, 'reported', 'released'))
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
return { 'declared', math.max(held, (tonumber(reported) or 0) - (tonumber(released) or 0)), tonumber(slots) }
