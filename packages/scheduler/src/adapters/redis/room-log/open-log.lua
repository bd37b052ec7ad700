--[[ open-log: open the log of a room, or keep it.
  KEYS[1] log        HASH  first, last, seq, count, ttl; position -> when (ms), number, speaker, key; b<position> -> body; key -> position; expires
  KEYS[2] followers  SET   "instance/incarnation" of each instance that follows the room; expires
  ARGV[1] last       position that was given out at least
  ARGV[2] seq        number that was given out at least
  ARGV[3] ttl        ms without an append after which the log expires
  ARGV[4] memory     ms for which the followers are kept
  Returns {"open", first, last, seq}
  Idempotent: an open log keeps its entries, and its numbers only grow. ]]
local log, followers, least_last, least_seq, ttl, memory = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local head = redis.call('HMGET', log, 'first', 'last', 'seq', 'count')
local last = math.max(tonumber(head[2] or 0), least_last)
local seq = math.max(tonumber(head[3] or 0), least_seq)
local count = tonumber(head[4] or 0)
local first = count > 0 and tonumber(head[1]) or last + 1
redis.call('HSET', log, 'first', first, 'last', last, 'seq', seq, 'count', count, 'ttl', ttl)
redis.call('PEXPIRE', log, ttl)
redis.call('PEXPIRE', followers, memory)
return { 'open', first, last, seq }
