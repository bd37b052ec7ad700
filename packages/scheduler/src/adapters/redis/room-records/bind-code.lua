--[[ bind-code: let a code name a room of its tenant, or renew that.
  KEYS[1] codes  HASH  code -> "until room" (ms, server time); expires
  ARGV[1] code
  ARGV[2] room   id
  ARGV[3] ttl    ms
  ARGV[4] max    codes of the tenant
  Returns {"bound"}, {"taken"} if the code names another room, or {"full"}
  Idempotent: a repeat only renews. It removes expired codes only if there are too many. ]]
local codes, code, room, ttl, max = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function is_live(entry)
  return entry and tonumber(string.match(entry, '^%d+')) > now
end
local bound = redis.call('HGET', codes, code)
if is_live(bound) and string.match(bound, '^%d+ (.*)$') ~= room then
  return { 'taken' }
end
if not is_live(bound) and redis.call('HLEN', codes) >= max then
  local all, live = redis.call('HGETALL', codes), 0
  for at = 1, #all, 2 do
    if is_live(all[at + 1]) then
      live = live + 1
    elseif all[at] ~= code then
      redis.call('HDEL', codes, all[at])
    end
  end
  if live >= max then
    return { 'full' }
  end
end
redis.call('HSET', codes, code, (now + ttl) .. ' ' .. room)
if redis.call('PTTL', codes) < ttl then
  redis.call('PEXPIRE', codes, ttl)
end
return { 'bound' }
