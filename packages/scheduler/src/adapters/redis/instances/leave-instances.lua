--[[ leave-instances: an instance goes of its own accord.
  KEYS[1] presence     HASH  incarnation, about; expires
  ARGV[1] incarnation  of who goes
  Returns {"left"} or {"absent"}
  Idempotent: who is gone already stays so, and another incarnation is not touched. ]]
local presence, incarnation = KEYS[1], ARGV[1]
if redis.call('HGET', presence, 'incarnation') ~= incarnation then
  return { 'absent' }
end
redis.call('DEL', presence)
return { 'left' }
