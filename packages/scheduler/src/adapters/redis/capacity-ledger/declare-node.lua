--[[ declare-node: make a node known, or change its slots.
  KEYS[1] node       HASH  slots, accepting, reported, released, and the claim on the id
  KEYS[2] leases     ZSET  "job:attempt" -> expiry (ms, server time)
  ARGV[1] slots      how many jobs fit
  ARGV[2] accepting  "1" or "0"
  ARGV[3] idle       ms that the node's keys outlive its last report by
  Returns {"declared", used, max}
  Idempotent: leases and the last report stay as they are. ]]
local node, leases, slots, accepting, idle = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', node, 'slots', slots, 'accepting', accepting)
redis.call('PEXPIRE', node, idle)
redis.call('PEXPIRE', leases, idle)
local reported, released = unpack(redis.call('HMGET', node, 'reported', 'released'))
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
return { 'declared', math.max(held, (tonumber(reported) or 0) - (tonumber(released) or 0)), tonumber(slots) }
