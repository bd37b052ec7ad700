--[[ take-entries: hand out the oldest entries of a mailbox that have not expired.
  KEYS[1] queue   ZSET  "expiry:job" (ms, server time) -> its turn
  KEYS[2] bodies  HASH  job -> what is handed out
  ARGV[1] max     how many at most
  Returns {"taken", job, turn, body, job, turn, body ...}, {"taken"} alone when nothing is there
  Safe twice: an entry is handed out once, so a repeat takes the next ones; what an unheard reply held is lost. ]]
local queue, bodies, max = KEYS[1], KEYS[2], tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = { 'taken' }
local taken = 0
-- Counted first: where its slot is on the move, a queue that is empty by now cannot be asked, and what was taken would be lost.
local waiting = redis.call('ZCARD', queue)
while taken < max and waiting > 0 do
  waiting = waiting - 1
  local entry, turn = unpack(redis.call('ZPOPMIN', queue))
  local expiry, job = string.match(entry, '^(%d+):(.*)$')
  if tonumber(expiry) > now then
    table.insert(reply, job)
    table.insert(reply, turn)
    table.insert(reply, redis.call('HGET', bodies, job))
    taken = taken + 1
  end
  redis.call('HDEL', bodies, job)
end
return reply
