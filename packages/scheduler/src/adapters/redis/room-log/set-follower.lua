--[[ set-follower: add an instance to the followers of a room, or remove it; or the same in the index of what the instance follows.
  KEYS[1] followers  SET  "instance/incarnation" of the followers of a room; expires. Or "incarnation/room" of what an instance follows
  ARGV[1] member     to add or remove
  ARGV[2] memory     ms for which the set is kept; 0: until it is empty; "": the member is removed
  Returns {"followers", size}
  Idempotent: a set has each member once. ]]
local followers, member, memory = KEYS[1], ARGV[1], ARGV[2]
if memory == '' then
  redis.call('SREM', followers, member)
else
  redis.call('SADD', followers, member)
  if tonumber(memory) > 0 then
    redis.call('PEXPIRE', followers, memory)
  end
end
return { 'followers', redis.call('SCARD', followers) }
