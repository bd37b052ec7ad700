--[[ declare-dead: from now on the last incarnation under a name cannot come back by a renewal.
  KEYS[1] presence    HASH    incarnation, about; expires
  KEYS[2] dead        STRING  the name was declared dead; expires
  ARGV[1] remembered  ms
  Returns {"dead"} or {"living"}
  Idempotent: a repeated declaration only extends the memory of it. ]]
local presence, dead, remembered = KEYS[1], KEYS[2], ARGV[1]
if redis.call('EXISTS', presence) == 1 then
  return { 'living' }
end
redis.call('SET', dead, '1', 'PX', remembered)
return { 'dead' }
