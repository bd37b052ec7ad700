--[[ renew-instance: an instance goes on living, if its presence is still its own.
  KEYS[1] presence     HASH  incarnation, about; expires
  ARGV[1] incarnation  of who renews
  ARGV[2] ttl          ms
  Returns {"renewed"} or {"lost"}
  Idempotent: twice renewed is renewed. ]]
local presence, incarnation, ttl = KEYS[1], ARGV[1], ARGV[2]
if redis.call('HGET', presence, 'incarnation') ~= incarnation then
  return { 'lost' }
end
redis.call('PEXPIRE', presence, ttl)
return { 'renewed' }
