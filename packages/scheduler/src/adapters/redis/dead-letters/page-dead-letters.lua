--[[ page-dead-letters: some dead letters of one instance, newest first, and the beginning of each.
  KEYS[1] dead    STREAM  fields "body", "message", "deliveries", "tenant"
  ARGV[1] from    where to begin: "+" is the newest, "(id" the one after it, a number the last that died by then (ms)
  ARGV[2] max     dead letters of the page
  ARGV[3] head    bytes to show of each body; a sealed one is shown whole, because a part of it cannot be opened
  ARGV[4] budget  bytes of all bodies after which the page ends
  Returns {"last"|"more", and for each dead letter: id, deliveries, bytes, head}
  Idempotent: only reads. One at a time, so that the script never holds more than the budget and one body. ]]
local dead, from, max, head, budget = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local page = { 'more' }
local found = redis.call('XREVRANGE', dead, from, '-', 'COUNT', 1)[1]
while found and max > 0 and budget > 0 do
  local fields = {}
  for at = 1, #found[2], 2 do
    fields[found[2][at]] = found[2][at + 1]
  end
  local body = fields.body or ''
  page[#page + 1] = found[1]
  page[#page + 1] = fields.deliveries or '0'
  page[#page + 1] = #body
  local is_sealed = head > 0 and string.sub(body, 1, 7) == 'sealed:'
  page[#page + 1] = is_sealed and body or string.sub(body, 1, head)
  max = max - 1
  budget = budget - #body
  found = redis.call('XREVRANGE', dead, '(' .. found[1], '-', 'COUNT', 1)[1]
end
if not found then
  page[1] = 'last'
end
return page
