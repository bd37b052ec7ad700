--[[ forget-indexes: remove the indexes of an instance that is gone, unless a job is left that nobody took over.
  KEYS[1] driven   ZSET  job -> deadline (epoch ms by its driver's clock), of jobs that may be live
  KEYS[2] settled  ZSET  job -> deadline (epoch ms), of jobs settled lately
  Returns {"forgotten"} or {"kept", left} with the number of jobs that may be live
  Idempotent: what is gone stays gone. ]]
local driven, settled = KEYS[1], KEYS[2]
-- Whatever the deadlines say: they are of another clock than this server's. Whoever takes a job over takes it off, also one that is over.
local left = redis.call('ZCARD', driven)
if left > 0 then
  return { 'kept', left }
end
redis.call('UNLINK', driven, settled)
return { 'forgotten' }
