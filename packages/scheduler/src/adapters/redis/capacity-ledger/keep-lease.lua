--[[ keep-lease: a lease that is held, and whose attempt was not given up, lasts longer.
  KEYS[1] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[2] marks   HASH  "f:job:attempt" fenced, "r:job:attempt" held at the last report, "t:job:attempt" since when its node has it
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms from now; a lease that lasts longer stays as it is
  Returns {"kept"}, or {"absent"|"fenced"} and nothing is changed
  Idempotent: a lease that was given back does not come back, and its end moves only outwards. ]]
local leases, marks, lease, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expiry = tonumber(redis.call('ZSCORE', leases, lease))
if not expiry or expiry <= now then
  return { 'absent' }
end
if redis.call('HEXISTS', marks, 'f:' .. lease) == 1 then
  return { 'fenced' }
end
redis.call('ZADD', leases, 'XX', 'GT', now + ttl, lease)
return { 'kept' }
