--[[ fence-lease: mark a lease whose attempt was given up but may still run.
  KEYS[1] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[2] marks   HASH  "f:job:attempt" fenced, "r:job:attempt" held at the last report
  ARGV[1] lease   "job:attempt"
  Returns {"fenced"} or {"absent"}
  Idempotent: the mark is there or not; the lease's end does not move. ]]
local leases, marks, lease = KEYS[1], KEYS[2], ARGV[1]
if not redis.call('ZSCORE', leases, lease) then
  return { 'absent' }
end
-- One that has expired may still be there: whoever drops it drops its marks.
redis.call('HSET', marks, 'f:' .. lease, 1)
return { 'fenced' }
