--[[ make-round: what an instance writes by the clock in its own slot, with what waited for that to go along.
  KEYS[1] figures    STRING  what it says of its work
  KEYS[2] inbox      STREAM  field "body"
  KEYS[3] driven     ZSET  job -> deadline (epoch ms), of jobs that may be live
  KEYS[4] settled    ZSET  job -> deadline (epoch ms), of jobs settled lately
  ARGV[1] text       of the figures
  ARGV[2] life       ms they can be read for
  ARGV[3] channel    in the slot of the inbox; nothing is said there, for its own ear to hear
  ARGV[4] way        "sharded" or "plain", as the channel is; "none": nobody listens
  ARGV[5] group      consumer group of the inbox
  ARGV[6] now        epoch ms by the clock of the instance, as its deadlines are
  ARGV[7] margin     ms a record outlives its deadline by
  ARGV[8] retention  ms a settled record is kept
  ARGV[9] most       settled jobs to remember
  ARGV[10] handled   how many messages were handled
  ARGV[11] ended     how many jobs were settled
  ARGV[12] errand    ids of the messages, deadline and id in turn of the jobs, then ids of jobs that never were
  Returns {"said"} or {"silent"}: whether anything was said on the channel
  Idempotent: what is gone already stays gone, and a job is in its index once. ]]
local figures, inbox, driven, settled = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local text, life, channel, way, group = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now, margin, retention = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local most, handled, ended = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local at = 12
-- First what makes room: a server that is full lets a script go on that has begun so.
if handled > 0 then
  redis.call('XACK', inbox, group, unpack(ARGV, at, at + handled - 1))
  redis.call('XDEL', inbox, unpack(ARGV, at, at + handled - 1))
  at = at + handled
end
for index = at + 2 * ended, #ARGV do
  redis.call('ZREM', driven, ARGV[index])
  redis.call('ZREM', settled, ARGV[index])
end
if ended > 0 then
  for index = at + 1, at + 2 * ended, 2 do
    redis.call('ZREM', driven, ARGV[index])
  end
  redis.call('ZADD', settled, unpack(ARGV, at, at + 2 * ended - 1))
  redis.call('ZREMRANGEBYSCORE', driven, '-inf', now - margin)
  redis.call('ZREMRANGEBYSCORE', settled, '-inf', now - margin - retention)
  redis.call('ZREMRANGEBYRANK', settled, 0, -most - 1)
  redis.call('PEXPIRE', settled, retention + margin)
end
redis.call('SET', figures, text, 'PX', life)
if way == 'none' then
  return { 'silent' }
end
local told
if way == 'sharded' then
  told = redis.pcall('SPUBLISH', channel, '')
else
  told = redis.pcall('PUBLISH', channel, '')
end
-- A slot that moves has no channel for a moment. That says nothing of the ear.
local isSaid = type(told) == 'number'
return { isSaid and 'said' or 'silent' }
