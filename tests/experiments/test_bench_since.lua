--- The pages of results say of which commit each table is, and what has changed since.

local lu = require "luaunit"
local core = require "ladies_core"
local commit = require "ladies.base.commit"
local computed = require "experiments.bench.computed"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local methods = require "ladies.experiment.methods"
local presets = require "ladies.experiment.presets"
local shell = require "tools.shell"
local since = require "experiments.bench.since"

local tests = {}

local root = os.getenv "LADIES_SOURCE"
local states = json.decode(core.file.read(root .. "/doc/computed.json"))
local numbers = computed.now()

local function page_of(name) return core.file.read(("%s/doc/%s.md"):format(root, name)) end

-- ---------------------------------------------------------------- what is there

--- Samplers, networks and defaults compute as in the last state of doc/computed.json; otherwise a
-- new state has to be added.
function tests.test_nothing_changed_unsaid()
  lu.assertEquals(computed.changed(states[#states].numbers, numbers), {},
    'these compute otherwise: tell what has changed with `ladies bench since --why "..."`')
  for i, state in ipairs(states) do
    lu.assertEquals(type(state.since), i == 1 and "nil" or "string")
  end
end

--- Every table names the program's commit, which a state has; what changed since stands below it.
function tests.test_pages()
  for _, page in ipairs(since.PAGES) do
    local text, tables_there = page_of(page), 0
    for line in text:gmatch "[^\n]+" do
      if line:find "^Measured [a-z]+ .*ladies %d" or line:find "^%d+ runs on .*ladies %d" then
        tables_there = tables_there + 1
        lu.assertTrue(#since.commits_of(line) > 0, page .. " names no commit: " .. line)
      end
    end
    lu.assertTrue(tables_there > 0, page)
    local made, unknown = since.remade(page, text, states)
    lu.assertEquals(unknown, {}, page .. ": no state has these commits: call `ladies bench since`")
    lu.assertEquals(made, text, page .. " says other things of its tables: `ladies bench since`")
  end
end

-- ---------------------------------------------------------------- how it is found

-- The changes that are found while a table has another value under a key.
local function changed_by(entry, key, value)
  local before = entry[key]
  entry[key] = value
  local _ <close> = setmetatable({}, {__close = function() entry[key] = before end})
  return computed.changed(numbers, computed.now())
end

--- The changes that are found are a default of a preset, a method's own default, and a sampler that
-- draws otherwise.
function tests.test_changes()
  lu.assertEquals(computed.changed(numbers, numbers), {})
  lu.assertEquals(changed_by(presets.code, "patience", 300), {"method clustergcn, code",
    "method fastgcn, code", "method graphsage, code", "method ladies, code", "method vrgcn, code",
    "preset code, code"})
  local labor = methods.by_name.labor
  lu.assertEquals(changed_by(labor, "make", function(P, config)
    return (require "ladies.samplers").labor(P, {samples = 1, layers = config.layers})
  end), {"method labor, default"})
  lu.assertEquals(changed_by(methods.by_name, "labor", nil), {})       -- is none of what both have
end

local function numbers_of(loss, more)
  local list = {["method ladies, default"] = {settings = {layers = 5}, losses = {loss, 1}},
    ["method ladies, code"] = {settings = {layers = 5}, losses = {1, 1}},
    ["network gcnii, default"] = {settings = {}, losses = {1, 1}}}
  for name, one in pairs(more or {}) do list[name] = one end
  return list
end

local PAGE = [[
## Tables
| 1 |

Measured on x; ladies 0.1.0 (aaaaaaa), Lua 5.4.
<!-- end -->

3 runs on x; ladies 0.1.0 (bbbbbbb+), Lua 5.4 and y; ladies 0.1.0 (bbbbbbb), Lua 5.4; in turns.

Measured on x; ladies 0.1.0 (ccccccc).
]]

--- A line comes below what is older than a change, and goes when the table is made anew.
function tests.test_lines()
  local old = {{commits = {"aaaaaaa"}, numbers = numbers_of(1)}}
  lu.assertEquals(since.extended(old, numbers_of(1.00001)), {})
  lu.assertEquals(since.extended(old, numbers_of(2)), {"method ladies, default"})
  lu.assertEquals(#old, 1)
  since.extended(old, numbers_of(2), "draws are made one by one")
  lu.assertEquals({#old, old[2].since}, {2, "draws are made one by one"})
  table.insert(old[2].commits, "bbbbbbb")
  local made, unknown = since.remade("samplers", PAGE, old)
  lu.assertEquals(unknown, {"ccccccc"})
  local line = "\nSince then: draws are made one by one. Other numbers come today from `ladies`."
  lu.assertEquals(made, (PAGE:gsub("%(aaaaaaa%), Lua 5.4%.", function(all) return all .. line end)))
  lu.assertEquals((since.remade("samplers", made, old)), made)
  table.insert(old[2].commits, "aaaaaaa")
  table.remove(old[1].commits)
  lu.assertEquals((since.remade("samplers", made, old)), PAGE)
end

--- A section gets a remark on changed numbers only where it depends on them.
function tests.test_scopes()
  local function line(page, section, changed)
    local list = {{commits = {"aaaaaaa"}, numbers = numbers_of(1)},
      {commits = {}, numbers = numbers_of(1, {[changed] = {settings = {layers = 2},
        losses = {1, 3}}}), since = "something"}}
    list[1].numbers["network gcnii, default"].settings.layers = 5
    local text = ("## %s\nladies 0.1.0 (aaaaaaa)\n"):format(section)
    return (since.remade(page, text, list)):sub(#text + 1)
  end
  lu.assertEquals(line("reproduction", "Table 3, preset code", "method ladies, default"), "")
  lu.assertStrContains(line("reproduction", "Table 3, preset code", "method ladies, code"),
    "Other numbers come today from `ladies`.\n")
  lu.assertStrContains(line("models", "What depth is worth", "network gcnii, default"),
    "from the network `gcnii`.\n")
  lu.assertEquals(line("samplers", "What they cost", "network gcnii, default"), "")
  lu.assertStrContains(line("reproduction", "Table 3", "method ladies, code"),
    "from `ladies` (code).\n")
end

-- ---------------------------------------------------------------- the commit

--- The commit of a result is that of git in a checkout; changed files are marked.
function tests.test_commit()
  local hash = commit()
  local out, _, status = shell.run{"git", "-C", root, "rev-parse", "--short=7", "HEAD"}
  if core.exists(root .. "/.git") and status == 0 then
    lu.assertEquals(((hash or ""):gsub("%+", "")), (out:gsub("%s", "")))
  end
  for _, line in ipairs{machine.text(), machine.measured()} do
    lu.assertEquals(since.commits_of(line), {hash})
    lu.assertStrContains(line, "; ladies " .. core.version)
  end
  lu.assertNotStrContains(machine.numerics(), "(")        -- other commits may give the same bits
end

return tests
