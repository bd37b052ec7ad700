--[[ remove-dead-letters: remove dead letters of an instance; the stream is deleted with its last one.
  KEYS[1] dead    STREAM  fields "body", "message", "deliveries", "tenant"
  KEYS[2] tenants ZSET    "tenant, line end, id" of each dead letter -> 0
  ARGV[1] letter  id of a dead letter; all arguments are ids
  Returns {"removed", how many of them were there}
  Idempotent: a repeat finds nothing to remove. ]]
local dead, tenants = KEYS[1], KEYS[2]
local removed = 0
for _, letter in ipairs(ARGV) do
  local found = redis.call('XRANGE', dead, letter, letter)[1]
  if found then
    removed = removed + redis.call('XDEL', dead, letter)
    -- An earlier version wrote no tenant.
    redis.call('ZREM', tenants, (found[2][8] or '') .. '\n' .. letter)
  end
end
if redis.call('XLEN', dead) == 0 then
  redis.call('DEL', dead, tenants)
end
return { 'removed', removed }
