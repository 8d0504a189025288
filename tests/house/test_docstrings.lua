--- Tests the promises of docstrings: names that they refer to are there, as are those of pages, and
-- their examples run.
local lu = require "luaunit"
local core = require "ladies_core"
local errors = require "ladies.base.errors"
local files = require "tools.files"
local help = require "ladies.prompt.help"
local pages = require "tools.pages"
local shell = require "tools.shell"
local signature = require "ladies.command.reference.signature"
local topics = require "ladies.command.reference.topics"
local types = require "ladies.command.reference.types"

local tests = {}
local root = os.getenv "LADIES_SOURCE" .. "/"

-- Variables that stand for an object of a class, or of one of two, wherever a text says
-- variable:method.
local CLASSES_OF = {
  t = "Tensor", x = "Tensor Rows", mask = "Tensor", loss = "Tensor", idx = "Index", A = "Matrix",
  P = "Matrix", U = "Matrix", S = "Matrix", rng = "Rng", optimizer = "Optimizer", graph = "Graph",
  data = "Dataset", names = "Names", step = "Step",
}

-- Calls f(name, text) for the text of every function and operator.
local function each_text(f)
  for _, topic in ipairs(topics()) do
    for _, section in ipairs(topic.sections) do
      for _, entry in ipairs(section.entries) do f(entry.name, help.text(entry.value)) end
      for _, operator in ipairs(section.class and help.operators(section.class) or {}) do
        f(section.name .. operator.name, operator.text)
      end
    end
  end
end

-- Tells whether a function, module, class or method, a page or a file that a text refers to exists.
local function exists(name)
  if name:find "/" then
    for _, folder in ipairs{"", "lua/ladies/", "lua/experiments/followers/"} do
      if core.exists(root .. folder .. name) then return true end
    end
    return false
  end
  local variable, method = name:match "^(%a+):([%w_]+)$"
  if variable and not variable:find "^%u%l" then
    if not CLASSES_OF[variable] then return true end
    for class in CLASSES_OF[variable]:gmatch "%S+" do
      if errors.try(help.find, class .. ":" .. method) then return true end
    end
    return false
  end
  return package.searchpath(name, package.path) ~= nil or errors.try(help.find, name)
end

-- The names in a text that are not there, with blanks between.
local function missing(text)
  local found = {}
  local function check(name)
    name = name:gsub("[.:]+$", "")
    if name:find "[.:/]" and not exists(name) then found[#found + 1] = name end
  end
  for name in text:gmatch "[Ss]ee%s+`?([%w_.:/]+)" do check(name) end
  for name in text:gmatch "%f[%w_]ladies%.[%w_.:]+" do check(name) end
  for name in text:gmatch "%f[%w_.]%a+:[%l_]+%f[(]" do check(name) end
  return table.concat(found, " ")
end

function tests.test_references()
  local count = 0
  each_text(function(name, text)
    count = count + 1
    lu.assertEquals(missing(text), "", name)
  end)
  lu.assertTrue(count > 400)
end

-- What pages call by such names: files, and what stands for any function.
local NO_FUNCTIONS = {["ladies.h"] = true, ["ladies.pc"] = true, ["ladies.json"] = true,
  ["ladies.1"] = true, ["ladies.lua"] = true, ["ladies.d.lua"] = true, ["ladies.f"] = true,
  ["ladies.nn.NAME"] = true}

--- Pages name functions and modules that are there; the changelog has those that were, too.
function tests.test_references_of_pages()
  local count = 0
  for _, page in ipairs(pages()) do
    local found = {}
    for name in files.read(root .. page):gmatch "%f[%w_]ladies%.[%w_.:]+" do
      name = name:gsub("[.:]+$", "")
      count = count + 1
      if not (NO_FUNCTIONS[name] or exists(name)) then found[#found + 1] = name end
    end
    if page ~= "doc/CHANGELOG.md" then lu.assertEquals(table.concat(found, " "), "", page) end
  end
  lu.assertTrue(count > 300, count)
end

function tests.test_missing_names_are_found()
  lu.assertEquals(missing "see ladies.nn.gnc, t:summ() and\nsee sampling.choise.",
    "ladies.nn.gnc sampling.choise ladies.nn.gnc t:summ")
  lu.assertEquals(missing "See doc/nothing.md; see samplers/nothing.lua",
    "doc/nothing.md samplers/nothing.lua")
  lu.assertEquals(missing "see t:sum(), ladies.report and mask:positions()", "")
  lu.assertEquals(missing "see Tensor:max; see doc/tour.md; see the end", "")
end

-- Whose settings have a page of their own, doc/reference/settings.md, made of the specs themselves.
local OTHERWISE = {["ladies.experiment.configure"] = true}

-- All that is said of a function: its text and those of functions whose options it has.
local function whole_text(f)
  local text = help.documentation(f)
  local parts = {text}
  for name in text:gmatch "those of%s+([%w_.]+%w)" do
    local ok, other = errors.try(help.find, name)
    if ok and type(other) == "function" then parts[#parts + 1] = whole_text(other) end
  end
  return table.concat(parts, "\n")
end

-- Calls f(entry, form, spec) for every function whose code checks its options.
local function each_spec(f)
  for _, topic in ipairs(topics()) do
    for _, section in ipairs(topic.sections) do
      for _, entry in ipairs(section.entries) do
        local form, has_options = signature.of(entry.value, entry.is_method), false
        for _, one in ipairs(form.parameters) do has_options = has_options or one.is_options end
        local spec = has_options and types.spec_of(entry, form, section.name)
        if spec and not OTHERWISE[entry.name] then f(entry, form, spec) end
      end
    end
  end
end

--- Every option that a function checks is spoken of, and no other stands among its options.
function tests.test_options()
  local count = 0
  each_spec(function(entry, form, spec)
    count = count + 1
    local text, known = whole_text(entry.value), {}
    for name in pairs(spec) do
      known[name] = true
      lu.assertNotNil(text:find("%f[%w_]" .. name .. "%f[^%w_]"), entry.name .. ": " .. name)
    end
    for _, one in ipairs(form.parameters) do known[one.name] = true end
    for _, option in ipairs(help.options(entry.value)) do
      lu.assertTrue(known[option.name], entry.name .. ": " .. option.name)
    end
  end)
  lu.assertTrue(count > 75, count)
end

-- The listings of a text: lines that are indented by two blanks and what follows them, indented,
-- where there is a call in them.
local function examples(text)
  local list, lines = {}, {}
  local function finish()
    local block = table.concat(lines, "\n")
    local has_call = block:find "[%w_]+%.[%l_]+%s*[({]" or block:find "%w:%l[%w_]*%s*[({\"]"
    if has_call and not block:find '^  "' then list[#list + 1] = block end
    lines = {}
  end
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:find "^  %S" or #lines > 0 and line:find "^   " then
      lines[#lines + 1] = line
    elseif #lines > 0 then
      finish()
    end
  end
  if #lines > 0 then finish() end
  return list
end

-- The variables that examples use.
local WORLD = [[
local ladies = require "ladies"
local sampling, range, rng = ladies.sampling, ladies.range, ladies.rng(1)
local data = ladies.data.load "wordnet"
local A, dst, power, k = data.graph:normalize "sym", range(1, 5), 2, 3
local always, U, src, p, pick, w = dst, nil, nil, nil, nil, nil
]]

function tests.test_examples_run()
  local _ = require "ladies.data.generate".labels          -- an example generates a graph
  require "ladies.data.by_runs".check()
  local folder <close> = shell.folder()
  for name, text in pairs{edges = "0,1\n1,2\n", features = "1,0\n0,1\n1,1\n", labels = "0\n1\n0\n",
    split = "train\nval\ntest\n"} do
    files.write(("%s/%s.csv"):format(folder.path, name), text)
  end
  local count, parts = 0, {WORLD}
  each_text(function(name, text)
    for _, example in ipairs(examples(text)) do
      count = count + 1
      parts[#parts + 1] = ("do -- %s\n%s\nend\n"):format(name, example)
    end
  end)
  lu.assertTrue(count >= 8)
  local path = files.write(folder.path .. "/all.lua", table.concat(parts) .. "print 'all ran'\n")
  local out = shell.succeeded(shell.run({shell.ladies, path}, {folder = folder.path}))
  lu.assertStrContains(out, "all ran")
end

function tests.test_examples_are_found()
  lu.assertEquals(examples "Does it.\n\n  x:sum()\n    + 1\nlist:\n  what   is it\nend",
    {"  x:sum()\n    + 1"})
  lu.assertEquals(examples "  ladies.ones(2)", {"  ladies.ones(2)"})
  lu.assertEquals(examples "options\nname   what ladies.ones(2) is\n       and more", {})
end

return tests
