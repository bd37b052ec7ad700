--[[ append-entries: append entries to the log of a room, each key once, and trim its oldest entries.
  KEYS[1] log        HASH  first, last, seq, count, ttl; position -> when (ms, server time), number, speaker, key; b<position> -> body; key -> position; e<number> -> 1 if it was erased; expires
  KEYS[2] followers  SET   "instance/incarnation" of each instance that follows the room; expires
  ARGV[1] max        entries that are kept
  ARGV[2] age        ms for which entries are kept
  ARGV[3] memory     ms for which the followers are kept
  ARGV[4] entry      number of the utterance or "" for the next one, key, key after which it is pointless or "", speaker or "", body; from here on for each entry in turn
  Returns {"appended", first, last, seq, and for each entry: "own"|"other"|"none", number, body of the other one or "" if it was erased; then the followers} or {"gone"}
  Idempotent: an entry with a known key is not appended, and the one that stands is returned. An erased utterance is accepted again. ]]
local log, followers, max, age, memory = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local head = redis.call('HMGET', log, 'first', 'last', 'seq', 'count', 'ttl')
if not head[5] then
  return { 'gone' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first, last, seq, count = tonumber(head[1]), tonumber(head[2]), tonumber(head[3]), tonumber(head[4])
local reply = { 'appended', first, last, seq }
for at = 4, #ARGV, 5 do
  local number, key, pointless, speaker, body = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local known = redis.call('HGET', log, key)
  local standing = known and redis.call('HGET', log, 'b' .. known)
  local word, other = 'own', ''
  if known and (standing ~= '' or number ~= '') then
    word, other = 'other', standing
    number = string.match(redis.call('HGET', log, known), '^%d+\n(%d+)\n')
  elseif number ~= '' and redis.call('HEXISTS', log, 'e' .. number) == 1 then
    word = 'none'
  elseif pointless ~= '' and redis.call('HEXISTS', log, pointless) == 1 then
    word = 'none'
  else
    if number == '' then
      seq = seq + 1
      number = seq
    end
    last = last + 1
    count = count + 1
    if count == 1 then
      first = last
    end
    redis.call('HSET', log, last, now .. '\n' .. number .. '\n' .. speaker .. '\n' .. key, 'b' .. last, body, key, last)
  end
  reply[#reply + 1] = word
  reply[#reply + 1] = number
  reply[#reply + 1] = other
end
local line = count > 0 and redis.call('HGET', log, first)
while count > max or (count > 1 and tonumber(string.match(line, '^%d+')) < now - age) do
  local number, key = string.match(line, '^%d+\n(%d+)\n[^\n]*\n(.*)$')
  if redis.call('HGET', log, key) == tostring(first) then
    redis.call('HDEL', log, key)
  end
  redis.call('HDEL', log, first, 'b' .. first, 'e' .. number)
  count = count - 1
  -- Positions have gaps after a failover.
  repeat
    first = first + 1
    line = redis.call('HGET', log, first)
  until line
end
redis.call('HSET', log, 'first', first, 'last', last, 'seq', seq, 'count', count)
redis.call('PEXPIRE', log, head[5])
redis.call('PEXPIRE', followers, memory)
reply[2], reply[3], reply[4] = count > 0 and first or last + 1, last, seq
for _, follower in ipairs(redis.call('SMEMBERS', followers)) do
  reply[#reply + 1] = follower
end
return reply
