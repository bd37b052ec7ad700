--[[ claim-node: a connection claims a node id; the newest of the same credential wins.
  KEYS[1] node        HASH  credential, generation, and the node's capacity
  KEYS[2] orders      STRING  what operators ordered for the node
  ARGV[1] credential  that claims the id
  ARGV[2] room        "1" if an unknown id may be added, "0" if there are too many nodes
  ARGV[3] idle        ms that the id is kept after the last report of its node
  ARGV[4] memory      ms that orders are kept after the last claim
  Returns {"claimed", generation, is_returning, orders} or {"conflict"|"full"}
  Safe twice: a repeat is a newer claim of the same credential and gets a later generation. ]]
local node, orders, credential, room, idle, memory = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local holder, last = unpack(redis.call('HMGET', node, 'credential', 'generation'))
if holder and holder ~= credential then
  return { 'conflict' }
end
if not holder and room ~= '1' then
  return { 'full' }
end
-- Based on time, it grows although the hash was lost, forgotten or has expired; based on the last one, it grows although time went back.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local generation = math.max(now, (tonumber(last) or 0) + 1)
redis.call('HSET', node, 'credential', credential, 'generation', string.format('%.0f', generation))
redis.call('PEXPIRE', node, idle)
redis.call('PEXPIRE', orders, memory)
return { 'claimed', generation, holder and 1 or 0, redis.call('GET', orders) }
