--[[ bury-message: move a message that could not be handled to the dead letters, or drop it where none are kept.
  KEYS[1] inbox     STREAM  field "body"
  KEYS[2] dead      STREAM  fields "body", "message", "deliveries", "tenant"
  KEYS[3] tenants   ZSET    "tenant, line end, id" of each dead letter -> 0
  ARGV[1] group     consumer group of the inbox
  ARGV[2] message    its id
  ARGV[3] deliveries  how often it was delivered
  ARGV[4] tenant    whose it is; "": not known
  ARGV[5] limit     dead letters to keep
  ARGV[6] part      dead letters of one tenant to keep
  Returns {"buried", id}, {"dropped"} or {"absent"}
  Idempotent: a message that was acknowledged or buried already is absent. ]]
local inbox, dead, tenants, group, message, deliveries, tenant = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local limit, part = tonumber(ARGV[5]), tonumber(ARGV[6])
local found = redis.call('XRANGE', inbox, message, message)
redis.call('XACK', inbox, group, message)
if #found == 0 then
  return { 'absent' }
end
redis.call('XDEL', inbox, message)
if limit == 0 then
  return { 'dropped' }
end
-- An id begins with a digit, and the colon follows the digits.
local first, last = '[' .. tenant .. '\n', '(' .. tenant .. '\n:'
local excess = math.max(0, redis.call('ZLEXCOUNT', tenants, first, last) - part + 1)
for _, name in ipairs(redis.call('ZRANGEBYLEX', tenants, first, last, 'LIMIT', 0, excess)) do
  redis.call('XDEL', dead, string.sub(name, #tenant + 2))
  redis.call('ZREM', tenants, name)
end
while redis.call('XLEN', dead) >= limit do
  local oldest = redis.call('XRANGE', dead, '-', '+', 'COUNT', 1)[1]
  redis.call('XDEL', dead, oldest[1])
  -- An earlier version wrote no tenant.
  redis.call('ZREM', tenants, (oldest[2][8] or '') .. '\n' .. oldest[1])
end
local body = found[1][2][2]
local id = redis.call('XADD', dead, '*', 'body', body, 'message', message, 'deliveries', deliveries, 'tenant', tenant)
redis.call('ZADD', tenants, 0, tenant .. '\n' .. id)
-- An instance that was removed and started again keeps its dead letters without expiry.
redis.call('PERSIST', dead)
redis.call('PERSIST', tenants)
return { 'buried', id }
