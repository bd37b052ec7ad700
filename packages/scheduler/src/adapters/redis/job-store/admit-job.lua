--[[ admit-job: write a new job's record, unless its request is bound already.
  KEYS[1] current   HASH  the latest job of this tag
  ARGV[1] id        of the new job
  ARGV[2] life      ms for which its record is kept
  ARGV[3] fields    and values in turn, from here on
  Returns {"admitted"}, {"existing", field, value, ...} with the whole record, or {"over", id} if that job is no longer bound
  and has to be shelved first
  Idempotent: the same id finds its own record and changes nothing. ]]
local current, id, life = KEYS[1], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', current, 'id', 'bound_until')
if held[1] then
  if held[1] ~= id and held[2] and tonumber(held[2]) <= now then
    return { 'over', held[1] }
  end
  return { 'existing', unpack(redis.call('HGETALL', current)) }
end
redis.call('HSET', current, unpack(ARGV, 3))
redis.call('PEXPIRE', current, life)
return { 'admitted' }
