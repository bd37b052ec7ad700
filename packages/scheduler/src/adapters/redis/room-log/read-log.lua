--[[ read-log: some entries of the log of a room.
  KEYS[1] log    HASH  first, last, seq, count, ttl; position -> when (ms), number, speaker, key; b<position> -> body; key -> position; expires
  ARGV[1] after  position before the first one
  ARGV[2] max    entries
  Returns {"read", first, last, seq, and for each entry: position, when, number, body or "" if it was erased} or {"gone"}
  Idempotent: only reads. ]]
local log, after, max = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local head = redis.call('HMGET', log, 'first', 'last', 'seq', 'count', 'ttl')
if not head[5] then
  return { 'gone' }
end
local last = tonumber(head[2])
local first = tonumber(head[4]) > 0 and tonumber(head[1]) or last + 1
local page = { 'read', first, last, tonumber(head[3]) }
local from = math.max(first, after + 1)
while from <= last and #page < 4 + 4 * max do
  local names = {}
  for position = from, math.min(last, from + 99) do
    names[#names + 1] = position
    names[#names + 1] = 'b' .. position
  end
  local found = redis.call('HMGET', log, unpack(names))
  for at = 1, #names, 2 do
    -- Positions have gaps after a failover.
    if found[at] and #page < 4 + 4 * max then
      local when, number = string.match(found[at], '^(%d+)\n(%d+)\n')
      page[#page + 1] = names[at]
      page[#page + 1] = when
      page[#page + 1] = number
      page[#page + 1] = found[at + 1]
    end
  end
  from = from + 100
end
return page
