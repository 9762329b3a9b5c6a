-- ==== rights: the ACL rules that the caller's user lacks, found before anything is written
-- `used`: commands with the declared key, which this user may use, because it calls a function with it. The one with
-- `for_all` uses its key as the calls use all keys: it shows whether the others are permitted, too.
function server.missing_rights(key, used)
    local may, missing, prefix, probe = redis.acl_check_cmd, {}, sub(key, 1, -2), nil
    for i = 1, #used do
        local name = used[i][1] == 'PUBSUB' and 'PUBSUB|' .. used[i][2] or used[i][1]
        if not may(unpack(used[i])) then
            missing[#missing + 1] = '+' .. name
        elseif used[i].for_all then
            probe = used[i]
        end
    end
    local names = {'i', 'd', 't', 'c', 'o', 'e', 'z', 'marks', 'limits', 'n:', 'q:', 'a:', 'w:'}
    for i = 1, probe and #names or 0 do
        if not may(probe[1], prefix .. names[i], unpack(probe, 3)) then
            missing[#missing + 1] = (probe.for_all == 'read' and '%R~' or '~') .. prefix .. '*'
            break
        end
    end
    return missing
end
function server.denial(missing) return missing[1] and error_reply('BATONACL ' .. concat(missing, ' ')) end
