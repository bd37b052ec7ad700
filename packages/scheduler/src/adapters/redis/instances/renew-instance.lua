--[[ renew-instance: extend the presence of an instance, unless another incarnation has its name or it was declared dead.
  KEYS[1] presence     HASH    incarnation, about; expires
  KEYS[2] dead         STRING  the name was declared dead; expires
  ARGV[1] incarnation  of the instance
  ARGV[2] about        the instance as JSON
  ARGV[3] ttl          ms
  Returns {"renewed"|"revived"|"lost", at}, at in ms of this server
  Idempotent: a repeated renewal only extends the presence. ]]
local presence, dead, incarnation, about, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local at = time[1] * 1000 + math.floor(time[2] / 1000)
local holder = redis.call('HGET', presence, 'incarnation')
if redis.call('EXISTS', dead) == 1 or (holder and holder ~= incarnation) then
  return { 'lost', at }
end
if not holder then
  redis.call('HSET', presence, 'incarnation', incarnation, 'about', about)
end
redis.call('PEXPIRE', presence, ttl)
if holder then
  return { 'renewed', at }
end
return { 'revived', at }
