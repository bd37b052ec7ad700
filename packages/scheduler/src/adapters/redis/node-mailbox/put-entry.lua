--[[ put-entry: queue a job for a node that polls, and wake a waiting take.
  KEYS[1] queue     ZSET     "expiry:job" (ms, server time) -> its position
  KEYS[2] bodies    HASH     job -> what is handed out; "s:job" -> "ttl lease" to commit when it is fetched
  KEYS[3] arrivals  CHANNEL  of this mailbox
  ARGV[1] job       its id
  ARGV[2] body      what is handed out
  ARGV[3] ttl       ms from now
  ARGV[4] max       entries a mailbox may hold
  ARGV[5] turn      "" for a new entry, which comes last; for an entry that is put back, the position it had
  ARGV[6] slot      "ttl lease": the lease to commit when the entry is fetched, and for how long (ms); "" for a notice, which has no lease
  Returns {"queued"} or {"full"}
  Idempotent: a job that is queued keeps its position and its body. ]]
local queue, bodies, arrivals, job, body, ttl, max, turn, slot = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('HEXISTS', bodies, job) == 1 or redis.call('ZCARD', queue) >= max then
  for _, entry in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    local expiry, expired = string.match(entry, '^(%d+):(.*)$')
    if tonumber(expiry) <= now then
      redis.call('ZREM', queue, entry)
      redis.call('HDEL', bodies, expired, 's:' .. expired)
    end
  end
end
if redis.call('HEXISTS', bodies, job) == 1 then
  return { 'queued' }
end
if turn == '' then
  if redis.call('ZCARD', queue) >= max then
    return { 'full' }
  end
  local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
  turn = string.format('%.0f', math.max(time[1] * 1000000 + time[2], (tonumber(last) or 0) + 1))
end
-- The entry has expired.
if ttl <= 0 then
  return { 'queued' }
end
redis.call('ZADD', queue, turn, string.format('%.0f', now + ttl) .. ':' .. job)
redis.call('HSET', bodies, job, body)
redis.call('HSET', bodies, 's:' .. job, slot)
-- Entries that are not fetched expire with the last of them.
if redis.call('PTTL', queue) < ttl then
  redis.call('PEXPIRE', queue, ttl)
  redis.call('PEXPIRE', bodies, ttl)
end
-- To subscribers of this shard, if the server has sharded channels, otherwise to all.
if type(redis.pcall('SPUBLISH', arrivals, '')) == 'table' then
  redis.call('PUBLISH', arrivals, '')
end
return { 'queued' }
