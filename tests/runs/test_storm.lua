--- Commands that are struck by signals at random moments and taken up again, until one is left
-- alone: their results are those of undisturbed commands. tests/tools/storm.lua does it for longer.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local blows = require "tools.storm.blows"
local cases = require "tools.storm.cases"
local files = require "tools.files"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

function tests.test_commands()
  local world <close> = cases.world()
  for i, name in ipairs{"fetch", "import", "train"} do
    local rng = ladies.rng(3):fork(i)
    lu.assertTrue(blows.check(cases[name](world.data, rng, world), temporary.path(name), rng, 2)
      >= 0)
  end
end

--- A storm of ranks, on two hosts where this machine can make them: there it also cuts the network
-- and fills the disk.
function tests.test_ranks()
  if not ranks.available() then lu.skip "there is no MPI" end
  local hosts, words = here .. "/tools/hosts.sh", {shell.ladies, here .. "/tools/storm.lua",
    "--only", "ranks", "--blows", "2", "--seed", "2"}
  if select(3, shell.run{hosts, "2", "-", "true"}) == 0 then
    table.move({hosts, "2", "-"}, 1, 3, 1, table.move(words, 1, #words, 4))
  end
  local out = shell.succeeded(shell.run(words))
  lu.assertStrContains(out, "storm 1, ranks: ")
end

-- ---------------------------------------------------------------- what is found

-- A case whose command is a statement, which has `folder`, sleep and write; its outcome is the file
-- `result` in the folder.
local function case_of(text)
  local begin = [[
    local core, folder = require "ladies_core", %q
    core.folder.make(folder)
    local function sleep(s) core.process.start{"sleep", tostring(s)}:wait() end
    local function write(name, text, mode)
      local file <close> = io.open(folder .. "/" .. name, mode or "w")
      file:write(text)
    end
  ]]
  return {
    title = "a statement",
    words = function(folder) return {"-e", begin:format(folder) .. text}, 0 end,
    kept = function(folder)
      local list = folder .. "/list"
      return {list = core.exists(list) and files.read(list) or ""}
    end,
    outcome = function(folder) return files.read(folder .. "/result") end,
  }
end

-- Storms on the statement until one finds a fault; on a busy machine all blows of one may fall
-- before the statement's first line or after its last.
local function found(name, text)
  for seed = 5, 9 do
    local ok, message = pcall(blows.check, case_of(text), temporary.path(name .. seed),
      ladies.rng(seed), 2)
    if not ok then return message end
  end
  lu.fail("five storms do not find what is wrong: " .. name)
end

function tests.test_a_sound_statement()
  local n = blows.check(case_of 'sleep(1) write("result", "42")', temporary.path "sound",
    ladies.rng(5), 2)
  lu.assertTrue(n > 0)
end

--- A storm finds another result, something lost, something left, another status, and a process that
-- lives on.
function tests.test_faulty_statements()
  lu.assertStrContains(found("starts", 'write("result", "x", "a") sleep(1)'), "it comes to ")
  lu.assertStrContains(found("lost", [[
    write("list", core.exists(folder .. "/list") and "" or "a\n")
    sleep(1) write("result", "42")]]), "list has lost what was there")
  lu.assertStrContains(found("left", 'write("x.tmp1-0", "") sleep(1) write("result", "42")'),
    "left behind: out/x.tmp1-0")
  lu.assertStrContains(found("status", 'sleep(0.1) write("result", "42") os.exit(3)'),
    "it ends with 3")
  local grace = blows.GRACE
  local _ <close> = setmetatable({}, {__close = function() blows.GRACE = grace end})
  blows.GRACE = 0.3
  lu.assertStrContains(found("alive", 'os.execute "sleep 20 &" write("result", "42")'),
    "processes live on")
end

return tests
