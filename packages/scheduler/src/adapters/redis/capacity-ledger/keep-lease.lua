--[[ keep-lease: a lease that is held, and whose attempt was not given up, lasts longer.
  KEYS[1] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[2] marks   HASH  "f:job:attempt" fenced, "r:job:attempt" held at the last report, "t:job:attempt" since when its node has it
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms from now; a lease that lasts longer stays as it is
  ARGV[3] taken   "1" if its node has the job, so that the node's reports can prove it gone
  ARGV[4] idle    ms that a node's keys outlive its last report by
  Returns {"kept"}, or {"absent"|"fenced"} and nothing is changed
  Idempotent: a lease that was given back does not come back, and its end moves only outwards. ]]
local leases, marks, lease, ttl, taken, idle = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
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
if taken == '1' and redis.call('HSETNX', marks, 't:' .. lease, now) == 1 and redis.call('PTTL', marks) < 0 then
  redis.call('PEXPIRE', marks, idle)
end
return { 'kept' }
