--[[ restore-claim: a claim that was given is written again, after a failover or an emptied store may have lost it.
  KEYS[1] node        HASH  credential, generation, and the node's capacity
  ARGV[1] credential  whose the id is
  ARGV[2] generation  of the claim
  ARGV[3] idle        ms that the id outlives the last report of its node by
  Returns {"restored"}, or {"taken"} when the id is another credential's or has a later generation
  Idempotent: a repeat writes the same. ]]
local node, credential, generation, idle = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local holder, newest = unpack(redis.call('HMGET', node, 'credential', 'generation'))
if (holder and holder ~= credential) or (tonumber(newest) or 0) > tonumber(generation) then
  return { 'taken' }
end
redis.call('HSET', node, 'credential', credential, 'generation', generation)
redis.call('PEXPIRE', node, idle)
return { 'restored' }
