--[[ erase-speaker: erase what one speaker said in a room; numbers and keys stay.
  KEYS[1] log      HASH  first, last, seq, count, ttl; position -> when (ms), number, speaker, key; b<position> -> body; key -> position; expires
  ARGV[1] speaker  as it is in the lines
  Returns {"erased", utterances}
  Idempotent: a repeat finds no line of the speaker. ]]
local log, speaker = KEYS[1], ARGV[1]
local head = redis.call('HMGET', log, 'first', 'last')
local numbers, count = {}, 0
for position = tonumber(head[1] or 1), tonumber(head[2] or 0) do
  local line = redis.call('HGET', log, position)
  if line then
    local when, number, who, key = string.match(line, '^(%d+)\n(%d+)\n([^\n]*)\n(.*)$')
    if who == speaker then
      numbers[number] = true
      count = count + 1
      redis.call('HSET', log, position, when .. '\n' .. number .. '\n\n' .. key)
    end
    if numbers[number] then
      redis.call('HSET', log, 'b' .. position, '')
    end
  end
end
return { 'erased', count }
