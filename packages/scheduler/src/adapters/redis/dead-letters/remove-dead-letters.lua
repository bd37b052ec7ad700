--[[ remove-dead-letters: remove dead letters of an instance; the stream is deleted with its last one.
  KEYS[1] dead    STREAM  fields "body", "message", "deliveries"
  ARGV[1] letter  id of a dead letter; all arguments are ids
  Returns {"removed", how many of them were there}
  Idempotent: a repeat finds nothing to remove. ]]
local dead = KEYS[1]
local removed = 0
for _, letter in ipairs(ARGV) do
  removed = removed + redis.call('XDEL', dead, letter)
end
if redis.call('XLEN', dead) == 0 then
  redis.call('DEL', dead)
end
return { 'removed', removed }
