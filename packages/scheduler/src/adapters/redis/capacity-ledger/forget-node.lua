--[[ forget-node: remove a node's capacity and its leases. The claim on its id is not touched.
  KEYS[1] node      HASH  slots, accepting, reported, released, declared_by, credential, generation
  KEYS[2] leases    ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks     HASH  marks of leases
  ARGV[1] memory    ms for which a forgotten id keeps its last generation
  Returns {"forgotten"}
  Idempotent: a repeat finds nothing to remove. ]]
local node, leases, marks, memory = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
redis.call('HDEL', node, 'slots', 'accepting', 'reported', 'released', 'declared_by')
redis.call('DEL', leases, marks)
if redis.call('HEXISTS', node, 'credential') == 0 then
  redis.call('PEXPIRE', node, memory)
end
return { 'forgotten' }
