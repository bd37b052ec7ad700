--[[ reassert-lease: write a lease again that a failover may have lost, even if the node is full.
  KEYS[1] node    HASH  slots, reported, released
  KEYS[2] leases  ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks   HASH  "a:job:attempt" abandoned, "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] lease   "job:attempt"
  ARGV[2] ttl     ms from now; a longer lease is not shortened
  ARGV[3] idle    ms that a node's keys are kept after its last report
  ARGV[4] taken   "1" if its node has the job, so that the node's reports can prove the lease ended
  Returns {"reasserted", used, max}, or {"unknown_node"} if the lease counts only once its node is declared again
  Idempotent: a lease takes one slot, and its expiry only gets later. ]]
local node, leases, marks, lease, ttl, idle, taken = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local slots, reported, released = unpack(redis.call('HMGET', node, 'slots', 'reported', 'released'))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('ZREM', leases, ended)
  redis.call('HDEL', marks, 'a:' .. ended, 'r:' .. ended, 't:' .. ended)
end
local was_held = redis.call('ZSCORE', leases, lease)
-- Before anything is added: while the hash slot moves, the script may be cut here, and its repeat would find its own lease.
local all = was_held and {} or redis.call('HKEYS', marks)
redis.call('ZADD', leases, 'GT', now + ttl, lease)
-- In an emptied store drivers may write before the holder declares the node. If the holder never returns, the keys expire.
local life = redis.call('PTTL', leases)
if not slots then
  if life < tonumber(ttl) then
    redis.call('PEXPIRE', leases, ttl)
  end
  return { 'unknown_node' }
end
if life < 0 then
  redis.call('PEXPIRE', leases, idle)
end
local seen = (tonumber(reported) or 0) - (tonumber(released) or 0)
-- A report that arrived while the lease was lost counted its job as well: after the release that report is one too high.
if not was_held then
  local named = 0
  for _, mark in ipairs(all) do
    if string.sub(mark, 1, 2) == 'r:' then
      named = named + 1
    end
  end
  if named < seen then
    redis.call('HSET', marks, 'r:' .. lease, 1)
    redis.call('PEXPIRE', marks, idle)
  end
end
if taken == '1' and redis.call('HSETNX', marks, 't:' .. lease, now) == 1 and redis.call('PTTL', marks) < 0 then
  redis.call('PEXPIRE', marks, idle)
end
return { 'reasserted', math.max(redis.call('ZCARD', leases), seen), tonumber(slots) }
