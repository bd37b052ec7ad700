--[[ add-usage: count what jobs of one hour of a tenant have used, each job once.
  KEYS[1] hour     HASH  "stage language unit" -> amount; expires
  KEYS[2] day      HASH  "stage unit" -> amount, and "jobs"; expires
  KEYS[3] month    HASH  the same for its month; expires
  KEYS[4] counted  ZSET  job -> when it was counted (ms, server time); expires
  ARGV[1] kept     ms for which the hour is kept
  ARGV[2] sums     ms for which day and month are kept
  ARGV[3] repeat   ms for which a job is remembered
  ARGV[4] most     counts of one hour; what exceeds them counts under the language "other"
  ARGV[5] job      id, number of counts, then stage, language, unit and amount of each; from here on for each job in turn
  Returns {"added", jobs} with how many of the jobs were not counted before
  Idempotent: a job that was counted is skipped. It adds before it removes, so that it never empties a key. ]]
local hour, day, month, counted = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local kept, sums, memory, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local added, rows, totals = 0, {}, {}
local at = 5
while at <= #ARGV do
  local isNew = redis.call('ZADD', counted, 'NX', now, ARGV[at]) == 1
  local counts = tonumber(ARGV[at + 1])
  at = at + 2
  if isNew then
    added = added + 1
  end
  for _ = 1, counts do
    local stage, language, unit, amount = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
    at = at + 4
    if isNew then
      rows[stage] = rows[stage] or {}
      rows[stage][language] = rows[stage][language] or {}
      rows[stage][language][unit] = (rows[stage][language][unit] or 0) + amount
      local total = stage .. ' ' .. unit
      totals[total] = (totals[total] or 0) + amount
    end
  end
end
if added > 0 then
  local length = redis.call('HLEN', hour)
  for stage, languages in pairs(rows) do
    for language, units in pairs(languages) do
      for unit, amount in pairs(units) do
        local field = stage .. ' ' .. language .. ' ' .. unit
        if length >= most and redis.call('HEXISTS', hour, field) == 0 then
          field = stage .. ' other ' .. unit
        else
          length = length + 1
        end
        redis.call('HINCRBY', hour, field, amount)
      end
    end
  end
  redis.call('HINCRBY', day, 'jobs', added)
  redis.call('HINCRBY', month, 'jobs', added)
  for total, amount in pairs(totals) do
    redis.call('HINCRBY', day, total, amount)
    redis.call('HINCRBY', month, total, amount)
  end
  redis.call('PEXPIRE', hour, kept)
  redis.call('PEXPIRE', day, sums)
  redis.call('PEXPIRE', month, sums)
end
redis.call('ZREMRANGEBYSCORE', counted, '-inf', now - memory)
redis.call('PEXPIRE', counted, memory)
return { 'added', added }
