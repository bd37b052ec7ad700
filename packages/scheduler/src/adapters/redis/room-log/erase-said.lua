--[[ erase-said: erase what one speaker said in a room; numbers and keys stay.
  KEYS[1] log        HASH  first, last, seq, count, ttl; position -> when (ms), number, speaker, key; b<position> -> body; key -> position; e<number> -> 1 if it was erased; expires
  KEYS[2] followers  SET   "instance/incarnation" of each instance that follows the room; expires
  ARGV[1] speaker    as it is in the lines
  ARGV[2] key        of the acceptance of one utterance, or "" for all that the speaker said
  Returns {"erased", utterances, followers}
  Idempotent: a repeat finds no line of the speaker. ]]
local log, followers, speaker, one = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local head = redis.call('HMGET', log, 'first', 'last')
local numbers, count = {}, 0
for position = tonumber(head[1] or 1), tonumber(head[2] or 0) do
  local line = redis.call('HGET', log, position)
  if line then
    local when, number, who, key = string.match(line, '^(%d+)\n(%d+)\n([^\n]*)\n(.*)$')
    if who == speaker and (one == '' or key == one) then
      numbers[number] = true
      count = count + 1
      redis.call('HSET', log, position, when .. '\n' .. number .. '\n\n' .. key, 'e' .. number, 1)
    end
    if numbers[number] then
      redis.call('HSET', log, 'b' .. position, '')
    end
  end
end
local reply = { 'erased', count }
for _, follower in ipairs(redis.call('SMEMBERS', followers)) do
  reply[#reply + 1] = follower
end
return reply
