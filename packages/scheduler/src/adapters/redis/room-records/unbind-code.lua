--[[ unbind-code: free the code of a room that has ended if it names this room, and note the room while its log is kept.
  KEYS[1] codes  HASH  code -> "until room" (ms); expires
  KEYS[2] ended  ZSET  room -> until when its log is kept (ms, server time); expires
  ARGV[1] code
  ARGV[2] room   id
  ARGV[3] kept   ms; 0: the log is not kept
  ARGV[4] most   rooms in ended
  Returns {"freed"} or {"kept"}
  Idempotent: a code that names no room, or another one, is left alone; a repeat notes the room for as long again. ]]
local codes, ended, code, room, kept, most = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if kept > 0 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', ended, '-inf', now)
  redis.call('ZADD', ended, now + kept, room)
  redis.call('ZREMRANGEBYRANK', ended, 0, -most - 1)
  if redis.call('PTTL', ended) < kept then
    redis.call('PEXPIRE', ended, kept)
  end
end
local bound = redis.call('HGET', codes, code)
if not bound or string.match(bound, '^%d+ (.*)$') ~= room then
  return { 'kept' }
end
redis.call('HDEL', codes, code)
return { 'freed' }
