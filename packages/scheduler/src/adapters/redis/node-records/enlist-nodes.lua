--[[ enlist-nodes: renew node ids in one part of the index.
  KEYS[1] index  ZSET  node id -> last seen (ms, server time)
  ARGV[1] node   an id; all arguments are ids
  Returns {"enlisted"}
  Idempotent: a time only grows. ]]
local index = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, node in ipairs(ARGV) do
  redis.call('ZADD', index, 'GT', string.format('%.0f', now), node)
end
return { 'enlisted' }
