--[[ drop-entry: remove an entry that was not fetched yet.
  KEYS[1] queue   ZSET  "expiry:job" (ms, server time) -> its position
  KEYS[2] bodies  HASH  job -> what is handed out; "s:job" -> "ttl lease" to commit when it is fetched
  ARGV[1] job     its id
  Returns {"dropped"} or {"absent"}
  Idempotent: a repeat finds nothing to remove. ]]
local queue, bodies, job = KEYS[1], KEYS[2], ARGV[1]
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
