--[[ release-lease: release one slot.
  KEYS[1] node    HASH  slots, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks   HASH  "a:job:attempt" abandoned, "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] lease   "job:attempt"
  Returns {"released"|"absent", used, max} or {"unknown_node"}
  Idempotent: a repeat finds nothing to release. ]]
local node, leases, marks, lease = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local slots, reported, released = unpack(redis.call('HMGET', node, 'slots', 'reported', 'released'))
if not slots then
  -- After the store was emptied, the lease may be written again before its node.
  redis.call('ZREM', leases, lease)
  redis.call('HDEL', marks, 'a:' .. lease, 'r:' .. lease, 't:' .. lease)
  return { 'unknown_node' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local seen = (tonumber(reported) or 0) - (tonumber(released) or 0)
local word = 'absent'
-- Counted before anything is removed: while the hash slot moves, a deleted key cannot be counted.
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
local expiry = tonumber(redis.call('ZSCORE', leases, lease))
if expiry then
  redis.call('ZREM', leases, lease)
  local abandoned, counted, committed = unpack(redis.call('HMGET', marks, 'a:' .. lease, 'r:' .. lease, 't:' .. lease))
  if abandoned or counted or committed then
    redis.call('HDEL', marks, 'a:' .. lease, 'r:' .. lease, 't:' .. lease)
  end
  if expiry > now then
    word = 'released'
    held = held - 1
    -- Only a lease held at the report can be among the jobs the node counted.
    if counted then
      redis.call('HINCRBY', node, 'released', 1)
      seen = seen - 1
    end
  end
end
return { word, math.max(held, seen), tonumber(slots) }
