--[[ note-orphan: remember that an instance is gone and left dead letters; those whose time is over are forgotten on the way.
  KEYS[1] orphans   ZSET  instance -> until when its letters are kept (ms, server time)
  ARGV[1] instance  who is gone
  ARGV[2] life      ms for which its letters are kept
  ARGV[3] limit     instances to remember
  Returns {"noted"}
  Idempotent: a time only grows. ]]
local orphans, instance, life, limit = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', orphans, '-inf', string.format('%.0f', now))
redis.call('ZADD', orphans, 'GT', string.format('%.0f', now + life), instance)
redis.call('ZREMRANGEBYRANK', orphans, 0, -limit - 1)
return { 'noted' }
