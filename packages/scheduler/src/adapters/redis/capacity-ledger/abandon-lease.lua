--[[ abandon-lease: mark the lease of an attempt that its driver abandons while the node may still work on it.
  KEYS[1] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[2] marks   HASH  "a:job:attempt" since when abandoned (ms), "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] lease   "job:attempt"
  ARGV[2] idle    ms that a node's keys are kept after its last report
  ARGV[3] ends    ms from now after which the lease ends at the latest; "": the expiry stays
  Returns {"abandoned"} or {"absent"}
  Idempotent: the first mark is kept, and the expiry only gets earlier. ]]
local leases, marks, lease, idle, ends = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if not redis.call('ZSCORE', leases, lease) then
  return { 'absent' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- An expired lease may still be in the set: the script that removes it removes its marks.
redis.call('HSETNX', marks, 'a:' .. lease, now)
redis.call('PEXPIRE', marks, idle)
if ends ~= '' then
  redis.call('ZADD', leases, 'XX', 'LT', now + ends, lease)
end
return { 'abandoned' }
