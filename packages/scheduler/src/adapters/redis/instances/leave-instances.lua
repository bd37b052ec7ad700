--[[ leave-instances: an instance goes of its own accord, and a late renewal of it does not bring it back.
  KEYS[1] presence     HASH  incarnation, about, lasting; or dead; expires
  ARGV[1] incarnation  of who goes
  ARGV[2] remembered   ms
  Returns {"left"} or {"absent"}
  Idempotent: who is gone already stays so, and another incarnation is not touched. ]]
local presence, incarnation, remembered = KEYS[1], ARGV[1], ARGV[2]
if redis.call('HGET', presence, 'incarnation') ~= incarnation then
  return { 'absent' }
end
-- Never empty: where its slot is on the move, the script would end there.
redis.call('HSET', presence, 'dead', '1')
redis.call('HDEL', presence, 'incarnation', 'about')
redis.call('PEXPIRE', presence, remembered)
return { 'left' }
