--[[ forget-indexes: remove the indexes of a dead instance, unless one of its jobs was not taken over yet.
  KEYS[1] driven   ZSET  job -> deadline (epoch ms by its driver's clock), of jobs that may be live
  KEYS[2] settled  ZSET  job -> deadline (epoch ms), of jobs settled recently
  Returns {"forgotten"} or {"kept", left} with the number of jobs that may be live
  Idempotent: a repeat finds nothing to remove. ]]
local driven, settled = KEYS[1], KEYS[2]
-- Deadlines are not compared, because they were set by another clock. A takeover removes its job from the index, even a settled one.
local left = redis.call('ZCARD', driven)
if left > 0 then
  return { 'kept', left }
end
redis.call('UNLINK', driven, settled)
return { 'forgotten' }
