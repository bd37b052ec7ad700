--[[ announce-instance: an instance says that it lives, unless another incarnation does under its name.
  KEYS[1] presence     HASH  incarnation, about, lasting; or dead; expires
  ARGV[1] incarnation  of who announces itself
  ARGV[2] about        the instance as JSON
  ARGV[3] ttl          ms
  Returns {"announced"} or {"taken"}
  Idempotent: the same incarnation keeps what it said first. ]]
local presence, incarnation, about, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local holder = redis.call('HGET', presence, 'incarnation')
if holder and holder ~= incarnation then
  return { 'taken' }
end
redis.call('HSETNX', presence, 'incarnation', incarnation)
redis.call('HSETNX', presence, 'about', about)
-- Never empty: where its slot is on the move, the script would end there, and the dead could live on.
redis.call('HDEL', presence, 'dead')
-- Of who had the name before.
if not holder then
  redis.call('HDEL', presence, 'lasting')
end
redis.call('PEXPIRE', presence, ttl)
return { 'announced' }
