--- Writes the line below a table of doc/ that says what has changed since the table was made. A
-- table names its program as "ladies 0.1.0 (4cead69)", with the commit; doc/computed.json has what
-- the program computed at these commits (experiments.bench.computed), in states that follow each
-- other, each with a few words on what changed.

local computed = require "experiments.bench.computed"
local tables = require "ladies.base.tables"

local since = {}

local DEFAULT = {default = true}

-- The scopes of the tables of pages. A scope is all that its tables depend on: presets, methods and
-- networks (all, where these are not named), and `trained`, whether the tables are of runs with a
-- preset's own settings. A table has the first scope that fits its page and section.
local SCOPES = {
  {page = "reproduction", section = "preset code", presets = {code = true}, trained = true},
  {page = "reproduction", section = "preset paper", presets = {paper = true}, trained = true},
  {page = "reproduction", presets = {default = true, code = true, paper = true}, methods = {
    clustergcn = true, fastgcn = true, full = true, graphsage = true, ladies = true,
    vrgcn = true}, networks = {gcn = true}, trained = true},
  {page = "followers", section = "GCNII", presets = DEFAULT, methods = {full = true,
    ladies = true}, networks = {}},
  {page = "followers", section = "LABOR", presets = DEFAULT, methods = {graphsage = true,
    labor = true}, networks = {}},
  {page = "followers", presets = DEFAULT, trained = true},
  {page = "gallery", presets = DEFAULT, methods = {graphsage = true, labor = true, ladies = true,
    pooled = true}, networks = {gcn = true}},
  {page = "samplers", presets = DEFAULT, networks = {gcn = true}},
  {page = "models", section = "What depth is worth", presets = DEFAULT, methods = {ladies = true},
    networks = {gcn = true, gcnii = true, mlp = true}, trained = true},
  {page = "models", presets = DEFAULT, methods = {graphsage = true, ladies = true}},
  {page = "clusters", presets = DEFAULT, methods = {}, networks = {}, trained = true},
  {page = "benchmarks", section = "Other programs", presets = {default = true, code = true},
    methods = {clustergcn = true, full = true, graphsage = true, graphsaint = true, labor = true,
      ladies = true}, networks = {gcn = true}},
  {page = "benchmarks", presets = DEFAULT, methods = {fastgcn = true, graphsage = true,
    labor = true, ladies = true}, networks = {gcn = true, gcnii = true}},
}

--- The pages of results, in doc/.
since.PAGES = {"benchmarks", "clusters", "followers", "gallery", "models", "reproduction",
  "samplers"}

local function scope_of(page, section)
  for _, scope in ipairs(SCOPES) do
    if scope.page == page and section:find(scope.section or "", 1, true) then return scope end
  end
end

-- Tells whether a name of `computed`, such as "method ladies, default", is within a scope.
local function within(scope, name)
  local kind, own, preset = name:match "^(%a+) ([%w_]+), (%a+)$"
  if not scope.presets[preset] then return false end
  if kind == "preset" then return scope.trained or false end
  local list = kind == "method" and scope.methods or kind == "network" and scope.networks
  return not list or list[own] or false
end

--- since.state_of(states, hash): returns the place of the state that a commit has, or nil. A commit
-- with changes, "4cead69+", has the state of the commit.
function since.state_of(states, hash)
  for i, state in ipairs(states) do
    for _, one in ipairs(state.commits) do
      if one == hash:gsub("%+", "") then return i end
    end
  end
end

--- Returns the commits that a line names as those of its program.
function since.commits_of(line)
  local list = {}
  for hash in line:gmatch "ladies %d+%.%d+%.%d+ %((%x+%+?)%)" do list[#list + 1] = hash end
  return list
end

local HEAD = "Since then: "

-- Returns a text such as "`ladies` (code, default), the network `gcnii`" for names of `computed`;
-- presets are named where they are not all of the scope's.
local function names_text(names, scope)
  local order, presets = {}, {}
  for _, name in ipairs(names) do
    local own, preset = name:match "^(.*), (%a+)$"
    if not presets[own] then order[#order + 1], presets[own] = own, {} end
    table.insert(presets[own], preset)
  end
  return table.concat(tables.map(order, function(own)
    local kind, word = own:match "^(%a+) (.*)$"
    local of = kind ~= "method" and ("the %s `%s`"):format(kind, word) or ("`%s`"):format(word)
    if kind == "preset" or #presets[own] == #tables.sorted_keys(scope.presets) then return of end
    return ("%s (%s)"):format(of, table.concat(presets[own], ", "))
  end), ", ")
end

-- Returns the names within a scope whose results differ between two states.
local function changed_within(scope, before, after)
  local list = {}
  for _, name in ipairs(computed.changed(before.numbers, after.numbers)) do
    if within(scope, name) then list[#list + 1] = name end
  end
  return list
end

-- Returns the line for a table of the state at place `from`; nil where nothing that the table
-- depends on changed.
local function line_of(states, from, scope)
  local changed = changed_within(scope, states[from], states[#states])
  if #changed == 0 then return nil end
  local reasons = {}
  for i = from + 1, #states do
    if #changed_within(scope, states[i - 1], states[i]) > 0 then
      reasons[#reasons + 1] = states[i].since
    end
  end
  return ("%s%s. Other numbers come today from %s."):format(HEAD, table.concat(reasons, "; "),
    names_text(changed, scope))
end

--- since.remade(page, text, states) -> text, string[]: the page of that name with the line below
-- each table whose numbers would come out otherwise today, and no line below the others; and the
-- commits that no state has.
function since.remade(page, text, states)
  local lines, section, unknown, shown = {}, "", {}, false
  for line in (text:match "^(.-)\n*$" .. "\n"):gmatch "(.-)\n" do
    section = line:match "^## (.*)" or section
    if line:sub(1, #HEAD) ~= HEAD or not shown then lines[#lines + 1] = line end
    shown = false
    local first
    for _, hash in ipairs(since.commits_of(line)) do
      local state = since.state_of(states, hash)
      if state then first = math.min(first or state, state) else unknown[#unknown + 1] = hash end
      shown = true
    end
    lines[#lines + 1] = first and line_of(states, first, scope_of(page, section))
  end
  return table.concat(lines, "\n") .. "\n", unknown
end

--- since.extended(states, numbers [, why]) -> string[]: adds what the program computes now as a
-- state of its own, where it differs from the last one and `why` says what has changed; new methods
-- and networks are added to the last one. Returns the names whose results differ.
function since.extended(states, numbers, why)
  local last = states[#states]
  local changed = last and computed.changed(last.numbers, numbers) or {}
  if last and #changed == 0 then
    last.numbers = numbers
  elseif why or not last then
    states[#states + 1] = {commits = {}, numbers = numbers, since = last and why or nil}
  end
  return changed
end

return since
