--[[ declare-dead: from now on the last incarnation of a name can no longer renew its presence.
  KEYS[1] presence    HASH    incarnation, about; expires
  KEYS[2] dead        STRING  the name was declared dead; expires
  ARGV[1] remembered  ms
  Returns {"dead"} or {"living"}
  Idempotent: a repeated declaration only extends its expiry. ]]
local presence, dead, remembered = KEYS[1], KEYS[2], ARGV[1]
if redis.call('EXISTS', presence) == 1 then
  return { 'living' }
end
if redis.call('GET', dead) == 'left' then
  redis.call('PEXPIRE', dead, remembered)
else
  redis.call('SET', dead, '1', 'PX', remembered)
end
return { 'dead' }
