--[[ declare-dead: from now on who lived under a name last cannot come back by renewing itself.
  KEYS[1] presence    HASH  incarnation, about, lasting; or dead; expires
  ARGV[1] remembered  ms
  Returns {"dead"} or {"living"}
  Idempotent: dead is dead, and is remembered anew. ]]
local presence, remembered = KEYS[1], ARGV[1]
if redis.call('HEXISTS', presence, 'incarnation') == 1 then
  return { 'living' }
end
redis.call('HSET', presence, 'dead', '1')
redis.call('PEXPIRE', presence, remembered)
return { 'dead' }
