--[[ drop-entry: take back an entry that nobody has fetched; whether or not somebody has, its slot lasts no longer than one that is reserved now.
  KEYS[1] queue   ZSET  "expiry:job" (ms, server time) -> its turn
  KEYS[2] bodies  HASH  job -> what is handed out; "s:job" -> "ttl lease" of the slot that it names
  KEYS[3] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  ARGV[1] job     its id
  ARGV[2] lease   "job:attempt" that lasts no longer; "" to leave it as it is
  ARGV[3] ttl     ms from now
  Returns {"dropped"} or {"absent"}
  Idempotent: a repeat finds nothing to take back. ]]
local queue, bodies, leases, job, lease, ttl = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
if lease ~= '' then
  local time = redis.call('TIME')
  redis.call('ZADD', leases, 'XX', 'LT', time[1] * 1000 + math.floor(time[2] / 1000) + ttl, lease)
end
if redis.call('HEXISTS', bodies, job) == 0 then
  return { 'absent' }
end
for _, entry in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
  if string.match(entry, '^%d+:(.*)$') == job then
    redis.call('ZREM', queue, entry)
  end
end
redis.call('HDEL', bodies, job, 's:' .. job)
return { 'dropped' }
