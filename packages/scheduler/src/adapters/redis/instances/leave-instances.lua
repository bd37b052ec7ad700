--[[ leave-instances: end the presence of an instance that stops, so that a late renewal has no effect.
  KEYS[1] presence     HASH    incarnation, about; expires
  KEYS[2] dead         STRING  how the name ended: 1 declared dead, left; expires
  ARGV[1] incarnation  of the instance
  ARGV[2] remembered   ms
  Returns {"left"} or {"absent"}
  Idempotent: an instance that has left stays absent, and another incarnation is not touched. ]]
local presence, dead, incarnation, remembered = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
if redis.call('HGET', presence, 'incarnation') ~= incarnation then
  return { 'absent' }
end
redis.call('SET', dead, 'left', 'PX', remembered)
redis.call('DEL', presence)
return { 'left' }
