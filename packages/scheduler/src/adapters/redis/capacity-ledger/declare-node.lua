--[[ declare-node: make a node known, or change its slots.
  KEYS[1] node       HASH  slots, accepting, reported, released, declared_by, and the claim on the id (generation)
  KEYS[2] leases     ZSET  "job:attempt" -> expiry (ms, server time)
  ARGV[1] slots      how many jobs fit
  ARGV[2] accepting  "1" or "0"
  ARGV[3] idle       ms that the node's keys are kept after its last report
  ARGV[4] claim      generation of the connection for which the caller declares this; "0": of no connection
  Returns {"declared"|"outdated", used, max}
  Idempotent: leases and the last report do not change. A claim older than the last one changes nothing. ]]
local node, leases, slots, accepting, idle = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local claim = tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reported, released, known, by, generation =
  unpack(redis.call('HMGET', node, 'reported', 'released', 'slots', 'declared_by', 'generation'))
local last = math.max(tonumber(by) or 0, tonumber(generation) or 0)
local word = 'declared'
if known and claim > 0 and claim < last then
  word, slots = 'outdated', known
else
  redis.call('HSET', node, 'slots', slots, 'accepting', accepting)
  if claim > 0 then
    redis.call('HSET', node, 'declared_by', ARGV[4])
  end
end
redis.call('PEXPIRE', node, idle)
redis.call('PEXPIRE', leases, idle)
local held = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
return { word, math.max(held, (tonumber(reported) or 0) - (tonumber(released) or 0)), tonumber(slots) }
