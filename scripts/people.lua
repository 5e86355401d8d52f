-- For wrk: the requests of people in turns, who read or change their profiles. The arguments are a file with their access tokens,
-- and GET or PATCH.
local tokens, turn = {}, 0
function init(arguments)
    for token in io.lines(arguments[1]) do tokens[#tokens + 1] = token end
    method = arguments[2]
    turn = math.random(#tokens)
end
function request()
    turn = turn + 1
    local headers = { Authorization = "Bearer " .. tokens[turn % #tokens + 1] }
    if method == "GET" then return wrk.format("GET", "/users/me", headers) end
    headers["Content-Type"] = "application/json"
    return wrk.format("PATCH", "/users/me", headers, '{"bio":"No. ' .. turn .. ' says hello."}')
end
