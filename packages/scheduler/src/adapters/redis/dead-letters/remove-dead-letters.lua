--[[ remove-dead-letters: take letters off the dead ones of an instance; the last one takes the stream along.
  KEYS[1] dead    STREAM  fields "body", "letter", "deliveries"
  ARGV[1] letter  an id; all arguments are ids
  Returns {"removed", how many of them were there}
  Idempotent: what is gone stays gone. ]]
local dead = KEYS[1]
local removed = 0
for _, letter in ipairs(ARGV) do
  removed = removed + redis.call('XDEL', dead, letter)
end
if redis.call('XLEN', dead) == 0 then
  redis.call('DEL', dead)
end
return { 'removed', removed }
