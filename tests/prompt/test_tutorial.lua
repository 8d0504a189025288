--- The tutorial of the prompt and of notebooks: every step's code runs, and the next step follows.
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local shell = require "tools.shell"

local tests = {}

local STEPS = 10

-- Returns what the prompt prints for typed lines (an empty one is Enter alone), and its errors.
local function say(lines)
  return shell.run_ladies({"-i"},
    {stdin = table.concat(lines, "\n") .. "\n", env = {"LADIES_HISTORY="}})
end

-- The lines of code that the steps show, as one text.
local function codes_of(out)
  local codes = {}
  for code in out:gmatch "Step %d+ of %d+: .-\n\n(  .-)\n\n" do
    codes[#codes + 1] = code:gsub("^  ", ""):gsub("\n  ", "\n")
  end
  return codes
end

--- Enter alone runs them all, without a complaint; and each shows what its text speaks of.
function tests.test_all_steps_at_the_prompt()
  local lines = {"tutorial()"}
  for i = 1, STEPS do lines[i + 1] = "" end
  lines[#lines + 1] = "tutorial(2)"
  local out, complaints = say(lines)
  lu.assertEquals(complaints:gsub("[^\n]*%d:%d%d[^\n]*", ""):gsub("%s", ""), "")
  local at = 1
  for i, word in ipairs{"nodes      117,659", "node 10816, dog.n", "Matrix 117659 x 117659",
    "mini-batch of 64 seeds", "Gcn of 2 layers", "loss\t3.8", "best model", '0%.%d+, "[%w.]+"\n',
    "The embedding is off by", "At the prompt also:"} do
    local shown = assert(out:find(("Step %d of %d: "):format(i, STEPS), at, true), i)
    at = assert(out:find(word, shown, not word:find "%%"), word)
  end
  local codes = codes_of(out)
  lu.assertEquals(#codes, STEPS + 1)
  lu.assertEquals(codes[STEPS + 1], codes[2])
  for _, code in ipairs(codes) do
    for line in code:gmatch "[^\n]+" do lu.assertTrue(#line <= 90, line) end
  end
end

--- Other code may come in between; code that fails is not taken for the step's; and a step tells
-- which variables it needs.
function tests.test_the_order()
  local out, complaints = say{"tutorial()", "1 + 1", "tutorial()", "local data = {}",
    "tutorial(2)", "", "where()", "tutorial()", "tutorial(4)", "tutorial(11)", "tutorial(0)",
    "tutorial 'x'"}
  local steps = {}
  for n in out:gmatch "Step (%d+) of" do steps[#steps + 1] = tonumber(n) end
  lu.assertEquals(steps, {1, 1, 2, 2, 4})
  lu.assertStrContains(out:gsub("\n", " "), "It uses P of step 3, which is not there yet.")
  lu.assertStrContains(complaints, "attempt to call a nil value (method 'show')")
  lu.assertStrContains(complaints, "tutorial: there are 10 steps, no step 11")
  lu.assertStrContains(complaints, "tutorial: the step must be a positive integer, got 0")
  lu.assertStrContains(complaints, 'got "x"')
  lu.assertStrContains(complaints, "where() shows the stack")
  lu.assertStrContains(out, 'data:show("dog.n", 5)\n>')   -- of where()
  lu.assertNil((out .. complaints):find("tutorial.lua", 1, true))
end

--- A cell's reply has the code for the next one, which shows the step after it when it has run.
function tests.test_a_notebook()
  local first = [[local data = ladies.data.load "wordnet"; data]]
  local requests = {{op = "execute", code = "1 + 1"}, 1, {op = "execute", code = "tutorial()"},
    {op = "execute", code = first}, 2}
  local folder <close> = shell.folder()
  for i, request in ipairs(requests) do requests[i] = json.encode(request) .. "\n" end
  local asked = files.write(folder.path .. "/requests", table.concat(requests))
  local told = files.write(folder.path .. "/messages", "")
  local out = shell.run_ladies{"-e",
    ("return require('ladies.prompt.notebook').serve(%q, %q)"):format(asked, told)}
  local replies = {}
  for _, line in ipairs(files.lines(told)) do
    local message = json.decode(line)
    if message.kind == "reply" then replies[#replies + 1] = message end
  end
  lu.assertEquals(replies, {{kind = "reply"}, {kind = "reply", next = first},
    {kind = "reply", next = codes_of(out)[2]}})
  lu.assertStrContains(out, "Step 2 of 10: its graph")
end

--- The words with which it is found.
function tests.test_help()
  local out = say{"?tutorial", "help 'tutorial'", "help()"}
  local _, n = out:gsub("tutorial%(%[n: integer%]%): shows a step of the tutorial", "")
  lu.assertEquals(n, 2)
  lu.assertStrContains(out, "\n  tutorial  shows a step of the tutorial")
end

--- In a terminal Enter alone is enough, and history keeps no empty lines.
function tests.test_a_terminal()
  lu.assertNil(shell.talk [[
    expect tutorial() shows it in ten steps
    expect >\s
    send tutorial()\r
    expect Step 1 of 10
    expect step 2 follows.\r\n
    expect >\s
    send \r
    expect Dataset wordnet
    expect Step 2 of 10: its graph
    expect >\s
    send \x03
    expect >\s
    send 6 * 7\r
    expect \n42\r\n>\s
    send \r
    expect node 10816
    expect Step 3 of 10
    expect >\s
    send \x04
    exit 0
  ]])
end

return tests
