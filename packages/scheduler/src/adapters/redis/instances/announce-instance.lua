--[[ announce-instance: write the presence of an instance, unless another incarnation is alive under its name.
  KEYS[1] presence     HASH    incarnation, about; expires
  KEYS[2] dead         STRING  the name was declared dead; expires
  ARGV[1] incarnation  of the instance
  ARGV[2] about        the instance as JSON
  ARGV[3] ttl          ms
  Returns {"announced"} or {"taken"}
  Idempotent: the same incarnation keeps what it announced first. ]]
local presence, dead, incarnation, about, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local holder = redis.call('HGET', presence, 'incarnation')
if holder and holder ~= incarnation then
  return { 'taken' }
end
redis.call('HSETNX', presence, 'incarnation', incarnation)
redis.call('HSETNX', presence, 'about', about)
redis.call('PEXPIRE', presence, ttl)
redis.call('DEL', dead)
return { 'announced' }
