--[[ restore-claim: write a claim again that a failover or an emptied store may have lost.
  KEYS[1] node        HASH  credential, generation, and the node's capacity
  ARGV[1] credential  that claimed the id
  ARGV[2] generation  of the claim
  ARGV[3] idle        ms that the id is kept after the last report of its node
  Returns {"restored"}, or {"taken"} if the id has another credential or a later generation
  Idempotent: a repeat writes the same. ]]
local node, credential, generation, idle = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local holder, newest = unpack(redis.call('HMGET', node, 'credential', 'generation'))
if (holder and holder ~= credential) or (tonumber(newest) or 0) > tonumber(generation) then
  return { 'taken' }
end
redis.call('HSET', node, 'credential', credential, 'generation', generation)
redis.call('PEXPIRE', node, idle)
return { 'restored' }
