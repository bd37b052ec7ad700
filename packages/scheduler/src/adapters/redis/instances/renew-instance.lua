--[[ renew-instance: an instance goes on living, if nobody else has its name and nobody has taken it for dead.
  KEYS[1] presence     HASH  incarnation, about, lasting; or dead; expires
  ARGV[1] incarnation  of who renews
  ARGV[2] about        the instance as JSON
  ARGV[3] ttl          ms
  ARGV[4] lasting      number up to which its slots on nodes of others last, or ""
  Returns {"renewed"|"revived"|"lost", at}, at in ms of this server
  Idempotent: twice renewed is renewed. ]]
local presence, incarnation, about, ttl, lasting = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local at = time[1] * 1000 + math.floor(time[2] / 1000)
local holder, dead = unpack(redis.call('HMGET', presence, 'incarnation', 'dead'))
if dead or (holder and holder ~= incarnation) then
  return { 'lost', at }
end
if not holder then
  redis.call('HSET', presence, 'incarnation', incarnation, 'about', about)
end
redis.call('HSET', presence, 'lasting', lasting)
redis.call('PEXPIRE', presence, ttl)
if holder then
  return { 'renewed', at }
end
return { 'revived', at }
