--[[ note-orphan: record that a removed instance left dead letters, and drop the records that have expired.
  KEYS[1] orphans   ZSET  instance -> until when its dead letters are kept (ms, server time)
  ARGV[1] instance  that was removed
  ARGV[2] life      ms for which its dead letters are kept
  ARGV[3] limit     instances to keep
  Returns {"noted"}
  Idempotent: a time only grows. ]]
local orphans, instance, life, limit = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', orphans, '-inf', string.format('%.0f', now))
redis.call('ZADD', orphans, 'GT', string.format('%.0f', now + life), instance)
redis.call('ZREMRANGEBYRANK', orphans, 0, -limit - 1)
return { 'noted' }
