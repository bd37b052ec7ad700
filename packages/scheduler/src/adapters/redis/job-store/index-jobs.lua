--[[ index-jobs: record which jobs an instance drives and which it settled recently, and remove expired entries.
  KEYS[1] driven     ZSET  job -> deadline (epoch ms), of jobs that may be live
  KEYS[2] settled    ZSET  job -> deadline (epoch ms), of jobs settled recently
  ARGV[1] now        epoch ms by the clock of the instance, which set its deadlines
  ARGV[2] margin     ms for which a record is kept after its deadline
  ARGV[3] retention  ms a settled record is kept
  ARGV[4] most       settled jobs to keep
  ARGV[5] begun      how many jobs are driven from now on
  ARGV[6] ended      how many were settled
  ARGV[7] job        deadline and id in turn of those begun and those ended, then ids of those that were discarded
  Returns {"indexed", driven, settled} with the length of each
  Idempotent: a job is in each index once; one that is recorded as driven too late is removed after its deadline. ]]
local driven, settled, now, margin, retention = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local most, begun, ended = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local at = 7
local latest = 0
if begun > 0 then
  redis.call('ZADD', driven, unpack(ARGV, at, at + 2 * begun - 1))
end
for _ = 1, begun do
  latest = math.max(latest, tonumber(ARGV[at]))
  at = at + 2
end
if ended > 0 then
  redis.call('ZADD', settled, unpack(ARGV, at, at + 2 * ended - 1))
  local ids = {}
  for index = 1, ended do
    ids[index] = ARGV[at + 1]
    at = at + 2
  end
  redis.call('ZREM', driven, unpack(ids))
end
for index = at, #ARGV do
  redis.call('ZREM', driven, ARGV[index])
  redis.call('ZREM', settled, ARGV[index])
end
redis.call('ZREMRANGEBYSCORE', driven, '-inf', now - margin)
redis.call('ZREMRANGEBYSCORE', settled, '-inf', now - margin - retention)
redis.call('ZREMRANGEBYRANK', settled, 0, -most - 1)
local life = math.max(latest - now, 0) + margin
if begun > 0 and redis.call('PTTL', driven) < life then
  redis.call('PEXPIRE', driven, life)
end
if ended > 0 then
  redis.call('PEXPIRE', settled, retention + margin)
end
return { 'indexed', redis.call('ZCARD', driven), redis.call('ZCARD', settled) }
