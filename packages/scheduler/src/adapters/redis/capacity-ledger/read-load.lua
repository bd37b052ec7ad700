--[[ read-load: how full a node is. Writes nothing.
  KEYS[1] node    HASH  slots, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  Returns {"load", used, max} or {"unknown_node"}
  Idempotent: it only reads. ]]
local node, leases = KEYS[1], KEYS[2]
local slots, reported, released = unpack(redis.call('HMGET', node, 'slots', 'reported', 'released'))
if not slots then
  return { 'unknown_node' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
return { 'load', math.max(held, (tonumber(reported) or 0) - (tonumber(released) or 0)), tonumber(slots) }
