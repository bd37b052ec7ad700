--[[ send-messages: put messages into an inbox that is open, as many as it has room for, and tell whoever listens.
  KEYS[1] inbox    STREAM  field "body"
  ARGV[1] limit    messages it may hold
  ARGV[2] group    its consumer group
  ARGV[3] reader   who is handed what it is told
  ARGV[4] channel  in the slot of the inbox; "id body" of each message is told there
  ARGV[5] most     messages that may be handed out and not confirmed; from there on they wait to be read
  ARGV[6] longest  bytes of a message that is told
  ARGV[7] body     of the messages, in their order; any number of them
  Returns {"sent", messages} with how many of them, from the first on; or {"gone"}
  Running it twice sends them twice: receivers know what they have handled. ]]
local inbox, limit, group, reader, channel = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local most, longest, before = tonumber(ARGV[5]), tonumber(ARGV[6]), 6
if redis.call('EXISTS', inbox) == 0 then
  return { 'gone' }
end
local sent = math.min(#ARGV - before, math.max(0, limit - redis.call('XLEN', inbox)))
local length = 0
for at = before + 1, before + sent do
  redis.call('XADD', inbox, '*', 'body', ARGV[at])
  length = math.max(length, #ARGV[at])
end
if sent == 0 or length > longest then
  return { 'sent', sent }
end
local listeners = redis.pcall('PUBSUB', 'SHARDNUMSUB', channel)
-- Where a server before sharded channels is alone, whoever listens does so on a plain one.
local plain = listeners['err'] or listeners[2] == 0
if plain then
  listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)
end
-- If nobody does, messages wait to be read. So they do if whoever listens has enough in hand: what is told cannot be held up.
local pending = redis.pcall('XPENDING', inbox, group)
if listeners['err'] or listeners[2] == 0 or pending['err'] or pending[1] >= most then
  return { 'sent', sent }
end
-- Read for whoever listens: a reader that waits is not woken then, for nothing new is left for it.
local count = most - pending[1]
local read = redis.pcall('XREADGROUP', 'GROUP', group, reader, 'COUNT', count, 'STREAMS', inbox, '>')
if read and not read['err'] then
  for _, message in ipairs(read[1][2]) do
    local told = message[1] .. ' ' .. message[2][2]
    if plain then
      redis.pcall('PUBLISH', channel, told)
    else
      redis.pcall('SPUBLISH', channel, told)
    end
  end
end
return { 'sent', sent }
