--[[ read-codes: the rooms that codes of a tenant name.
  KEYS[1] codes  HASH  code -> "until room" (ms, server time); expires
  ARGV[1] code   or "" for all of them
  Returns {"codes", and for each: code, room}
  Idempotent: only reads. ]]
local codes, code = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = code == '' and redis.call('HGETALL', codes) or { code, redis.call('HGET', codes, code) }
local page = { 'codes' }
for at = 1, #all, 2 do
  local till, room = string.match(all[at + 1] or '', '^(%d+) (.*)$')
  if till and tonumber(till) > now then
    page[#page + 1] = all[at]
    page[#page + 1] = room
  end
end
return page
