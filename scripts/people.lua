-- For wrk: the requests of people in turns, who read or change their profiles. The arguments are a file with their access tokens,
-- and GET or PATCH. Each of two threads has every other person, so that nobody changes a profile twice at once.
local threads = 0
function setup(thread)
    thread:set("turn", threads)
    threads = threads + 1
end
local tokens = {}
function init(arguments)
    for token in io.lines(arguments[1]) do tokens[#tokens + 1] = token end
    method = arguments[2]
end
function request()
    turn = turn + 2
    local headers = { Authorization = "Bearer " .. tokens[turn % #tokens + 1] }
    if method == "GET" then return wrk.format("GET", "/users/me", headers) end
    headers["Content-Type"] = "application/json"
    return wrk.format("PATCH", "/users/me", headers, '{"bio":"No. ' .. turn .. ' says hello."}')
end
