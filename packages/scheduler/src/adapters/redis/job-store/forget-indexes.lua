--[[ forget-indexes: remove the indexes of an instance that is gone, unless a job is left that nobody took over.
  KEYS[1] driven   ZSET  job -> deadline (epoch ms), of jobs that may be live
  KEYS[2] settled  ZSET  job -> deadline (epoch ms), of jobs settled lately
  ARGV[1] margin   ms a record outlives its deadline by
  Returns {"forgotten"} or {"kept", left} with the number of jobs that may be live
  Idempotent: what is gone stays gone. ]]
local driven, settled, margin = KEYS[1], KEYS[2], tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = redis.call('ZCOUNT', driven, '(' .. now - margin, '+inf')
if left > 0 then
  return { 'kept', left }
end
redis.call('UNLINK', driven, settled)
return { 'forgotten' }
