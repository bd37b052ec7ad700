--[[ unbind-code: free a code if it names this room.
  KEYS[1] codes  HASH  code -> "until room" (ms); expires
  ARGV[1] code
  ARGV[2] room   id
  Returns {"freed"} or {"kept"}
  Idempotent: a code that names no room, or another one, is left alone. ]]
local codes, code, room = KEYS[1], ARGV[1], ARGV[2]
local bound = redis.call('HGET', codes, code)
if not bound or string.match(bound, '^%d+ (.*)$') ~= room then
  return { 'kept' }
end
redis.call('HDEL', codes, code)
return { 'freed' }
