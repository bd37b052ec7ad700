--[[ fence-lease: mark a lease whose attempt was given up but may still run.
  KEYS[1] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[2] marks   HASH  "f:job:attempt" since when fenced (ms), "r:job:attempt" held at the last report, "t:job:attempt" since when its node has it
  ARGV[1] lease   "job:attempt"
  ARGV[2] idle    ms that a node's keys outlive its last report by
  Returns {"fenced"} or {"absent"}
  Idempotent: the first mark stands; the lease's end does not move. ]]
local leases, marks, lease, idle = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
if not redis.call('ZSCORE', leases, lease) then
  return { 'absent' }
end
-- One that has expired may still be there: whoever drops it drops its marks.
local time = redis.call('TIME')
redis.call('HSETNX', marks, 'f:' .. lease, time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('PEXPIRE', marks, idle)
return { 'fenced' }
